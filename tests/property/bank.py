# SPDX-License-Identifier: GPL-2.0-only
"""Accounts that all clients share: money moves in groups and never changes its sum, and versions move by
compare-and-set.

Nobody can know beforehand whether a transfer finds enough money or a version is still the one that was read.
But every reply says how it went, each version is won by one client at most, and at the end all adds up.
"""

from __future__ import annotations

import random
import re
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from property.ingredients import register
from property.requests import FIRST_FREE_ID
from property.steps import OK, UNCHANGED, UNDONE, Member, Refusals, Wrong, is_refused_group

BANK = register(
    "bank",
    "shape",
    "accounts that all clients share: transfers and compare-and-set, in groups that often lose",
)
ACCOUNTS = 4
BALANCE = 100
BALANCE_ID, VERSION_ID = FIRST_FREE_ID + 50, FIRST_FREE_ID + 51
TABLES = (
    "CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL, version BIGINT NOT NULL)",
    f"INSERT INTO account SELECT seq, {BALANCE}, 0 FROM seq_0_to_{ACCOUNTS - 1}",
)
OPEN_LINES = {
    BALANCE_ID: b"P\t%d\td\taccount\t\tbalance" % BALANCE_ID,
    VERSION_ID: b"P\t%d\td\taccount\t\tversion\tversion" % VERSION_ID,
}


@dataclass
class Bank:
    """What all clients together know."""

    won: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Account and version, for each compare-and-set that was acknowledged."""
    maybe_won: Counter[int] = field(default_factory=Counter)
    """How many were not answered, by account."""
    sees_all: bool = True
    """Whether a read sees what was acknowledged before, wherever that was."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def newest(self, account: int) -> int:
        """The newest version that was acknowledged to anybody: a read that is sent from now on sees it, or a
        newer one."""
        if not self.sees_all:
            return 0
        return max((version for one, version in list(self.won) if one == account), default=0)


@dataclass
class BankStep:
    """A step whose replies may come out in more than one way."""

    bank: Bank
    lines: list[bytes]
    members: Sequence[Member] = ()

    def settle(self, replies: Sequence[bytes], refusals: Refusals) -> None:
        """Raises `Wrong` if no way of it has these replies."""
        refused = [reply for reply in replies if refusals.is_one(reply)]
        if refused:
            refusals.note(refused[0])
            if len(replies) > 1 and not is_refused_group(replies, set(refused)):
                raise Wrong(f"{self.lines!r} was answered {list(replies)!r}")
        elif not self.is_right(list(replies)):
            raise Wrong(f"{self.lines!r} was answered {list(replies)!r}")

    def is_right(self, replies: list[bytes]) -> bool:
        """Whether these replies may come; notes what they say."""
        raise NotImplementedError

    def pretend(self) -> None:
        """It changes nothing that is known."""

    def knows(self, replies: Sequence[bytes], refusals: Refusals) -> None:
        """Nor do its replies tell more."""

    def unanswered(self) -> None:
        """No reply has come, and none will."""


@dataclass
class Transfer(BankStep):
    """Money from one account to another, or nothing."""

    def is_right(self, replies: list[bytes]) -> bool:
        return replies in ([OK, b"0\t1\t1", b"0\t1\t1", OK], [OK, UNCHANGED, UNDONE, UNDONE])


@dataclass
class ReadVersion(BankStep):
    """A find of a version, which the client's next compare-and-set begins with."""

    account: int = 0
    floor: int = 0
    seen: dict[int, int] = field(default_factory=dict)

    def is_right(self, replies: list[bytes]) -> bool:
        found = re.fullmatch(rb"0\t1\t(\d+)", replies[0])
        if found is None or int(found[1]) < self.floor:
            return False
        self.seen[self.account] = int(found[1])
        return True


@dataclass
class CompareAndSet(BankStep):
    """The next version, if it still is the one that was seen."""

    account: int = 0
    version: int = 0
    """The next one."""

    def is_right(self, replies: list[bytes]) -> bool:
        find = re.fullmatch(rb"0\t1\t(\d+)", replies[1])
        lost = [OK, UNDONE, UNCHANGED, UNDONE]
        if find is None or replies[0] != OK or replies[2:] != [b"0\t1\t1", OK]:
            return replies == lost
        with self.bank.lock:
            self.bank.won[self.account, self.version] += 1
            return int(find[1]) == self.version - 1 and self.bank.won[self.account, self.version] == 1

    def unanswered(self) -> None:
        with self.bank.lock:
            self.bank.maybe_won[self.account] += 1


@dataclass
class Customer:
    """One client's view of the bank."""

    bank: Bank
    seen: dict[int, int] = field(default_factory=dict)
    """The version that was read last, by account."""

    def step(self, choose: random.Random, reads_only: bool, groups: bool) -> BankStep:
        """A random step."""
        account = choose.randrange(ACCOUNTS)
        if reads_only or not groups or choose.random() < 0.3:
            line = b"%d\t=\t1\t%d" % (VERSION_ID, account)
            return ReadVersion(
                self.bank, [line], account=account, floor=self.bank.newest(account), seen=self.seen
            )
        if choose.random() < 0.5:
            other, amount = choose.randrange(ACCOUNTS), choose.randint(1, 80)
            take = b"%d\t=\t1\t%d\t1\t0\t-\t%d" % (BALANCE_ID, account, amount)
            give = b"%d\t=\t1\t%d\t1\t0\t+\t%d" % (BALANCE_ID, other, amount)
            return Transfer(self.bank, [b"G\tmust", take, give, b"E"])
        version = self.seen.get(account, 0) + 1
        find = b"%d\t=\t1\t%d" % (VERSION_ID, account)
        swap = b"%d\t=\t1\t%d\t1\t0\tF\t=\t0\t%d\tU\t%d" % (VERSION_ID, account, version - 1, version)
        return CompareAndSet(self.bank, [b"G\tmust", find, swap, b"E"], account=account, version=version)


def wrong_balance(bank: Bank, rows: Sequence[tuple[int, int, int]]) -> list[str]:
    """What does not add up in `SELECT id, balance, version FROM account`."""
    total = sum(balance for _, balance, _ in rows)
    wrong = [] if total == ACCOUNTS * BALANCE else [f"the accounts have {total}: {rows}"]
    for account, _, version in rows:
        won = sum(one == account for one, _ in bank.won)
        if not won <= version <= won + bank.maybe_won[account]:
            wrong.append(
                f"account {account} is at version {version}, {won} compare-and-sets were acknowledged"
            )
    return wrong
