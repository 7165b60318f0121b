# SPDX-License-Identifier: GPL-2.0-only
"""Tables that give ids, by AUTO_INCREMENT or from a sequence: each row has a token that no other has."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

from property.books import BookMember, request_line
from property.ingredients import FAILING, MANY
from property.requests import Owner
from property.rows import DUPLICATE, Refused
from property.steps import OK


@dataclass
class TokenBook:
    """Rows that get their ids from the server; each has a token that no other has."""

    opened: str
    owner: Owner
    mix: frozenset[str]
    next_token: int = 0
    tokens: dict[int, int | None] = field(default_factory=dict)
    """Token to id, None where the reply does not tell."""
    totals: dict[int, int] = field(default_factory=dict)
    """Id to n."""
    unknown: set[int] = field(default_factory=set)
    """Tokens that may be there."""
    unknown_ids: set[int] = field(default_factory=set)
    """Ids whose n may be larger: they are not asked for any more."""
    requested: int = 0
    """Rows that were asked for, done or not."""

    def copy(self) -> TokenBook:
        return TokenBook(
            self.opened, self.owner, self.mix, self.next_token, dict(self.tokens), dict(self.totals)
        )

    def take(self, other: TokenBook) -> None:
        self.tokens, self.totals = dict(other.tokens), dict(other.totals)

    def undone(self, was: TokenBook) -> None:
        self.take(was)

    def becomes_unknown(self, was: TokenBook) -> None:
        """Whether what came since `was` was done is not known."""
        self.unknown |= self.tokens.keys() - was.tokens.keys()
        self.unknown_ids |= {one for one, total in was.totals.items() if self.totals.get(one) != total}
        self.take(was)

    def member(self, choose: random.Random, reads_only: bool) -> BookMember | None:
        """A random request; None if there is nothing to read yet."""
        known = [one for one in self.totals if one not in self.unknown_ids]
        if self.opened == "numbered" and known and (reads_only or choose.random() < 0.4):
            one = choose.choice(known)
            if reads_only or choose.random() < 0.5:
                return BookMember(
                    self, request_line("numbered_n", "=", 1, one), lambda: self._read(one), False
                )
            return BookMember(
                self, request_line("numbered_n", "=", 1, one, 1, 0, "+", 1), lambda: self._add(one)
            )
        if reads_only:
            return None
        count = choose.randint(1, 4) if MANY in self.mix and choose.random() < 0.3 else 1
        tokens = [self._new_token() for _ in range(count)]
        if count > 1 and self.opened == "numbered" and FAILING in self.mix and choose.random() < 0.3:
            tokens[-1] = tokens[0]
        self.requested += count
        line = (
            request_line(self.opened, "+", 1, *tokens)
            if count == 1
            else request_line(self.opened, "++", 1, count, *tokens)
        )
        return BookMember(
            self, line, lambda: self._insert(tokens), accept=lambda reply: self._learns_ids(tokens, reply)
        )

    def _new_token(self) -> int:
        self.next_token += 1
        return self.owner.number * 1_000_000_000 + self.next_token

    def _insert(self, tokens: list[int]) -> bytes | None:
        if len(set(tokens)) < len(tokens) and self.opened == "numbered":
            raise Refused(DUPLICATE)
        self.tokens |= dict.fromkeys(tokens)
        if self.opened == "numbered":
            return None
        return OK if len(tokens) == 1 else b"\t".join([b"0\t2", *[b"1\t\0"] * len(tokens)])

    def _learns_ids(self, tokens: list[int], reply: bytes) -> bool:
        pattern = rb"0\t1\t(\d+)" if len(tokens) == 1 else rb"0\t2" + rb"\t1\t(\d+)" * len(tokens)
        found = re.fullmatch(pattern, reply)
        if found is None:
            return False
        for one, row_id in zip(tokens, map(int, found.groups()), strict=True):
            self.tokens[one] = row_id
            self.totals[row_id] = 0
        return True

    def _read(self, one: int) -> bytes:
        return b"0\t1\t%d" % self.totals[one] if one in self.totals else b"0\t1"

    def _add(self, one: int) -> bytes:
        self.totals[one] += 1
        return b"0\t1\t1"
