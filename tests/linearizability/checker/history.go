// SPDX-License-Identifier: GPL-2.0-only

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/anishathalye/porcupine"
)

// A history is JSON lines, each an operation on one register. Times are in nanoseconds of one monotonic
// clock. `return` is null where there was no reply.
//
//	{"register": "7", "client": 3, "call": 1, "return": 2, "steps": [{"key": 7, "do": "read", "result": 5}]}
type line struct {
	Register string `json:"register"`
	Client   int    `json:"client"`
	Call     int64  `json:"call"`
	Return   *int64 `json:"return"`
	Steps    []step `json:"steps"`
}

// A register and the operations on it.
type register struct {
	name       string
	operations []porcupine.Operation
	keys       []int64
}

// readHistory sorts the operations by register. Registers are in the order in which they are first named.
func readHistory(source io.Reader) ([]*register, error) {
	byName := map[string]*register{}
	registers := []*register{}
	lines := bufio.NewReader(source)
	for number := 1; ; number++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		operation, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		found := byName[operation.Register]
		if found == nil {
			found = &register{name: operation.Register}
			byName[found.name] = found
			registers = append(registers, found)
		}
		if err := found.add(operation); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	for _, register := range registers {
		register.endTheUnknown()
	}
	return registers, nil
}

func parse(text []byte) (line, error) {
	var read line
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return line{}, err
	}
	if len(read.Steps) == 0 {
		return line{}, errors.New("an operation without steps")
	}
	for _, step := range read.Steps {
		if actions[step.Do] == nil {
			return line{}, fmt.Errorf("no such step: %q", step.Do)
		}
	}
	if read.Return != nil && *read.Return < read.Call {
		return line{}, errors.New("an operation that returns before it is called")
	}
	return read, nil
}

func (r *register) add(read line) error {
	for i := range read.Steps {
		position, err := r.position(read.Steps[i].Key)
		if err != nil {
			return err
		}
		read.Steps[i].position = position
	}
	operation := porcupine.Operation{ClientId: read.Client, Input: read.Steps, Call: read.Call}
	operation.Output = unknown
	if read.Return != nil {
		operation.Return, operation.Output = *read.Return, known
	}
	r.operations = append(r.operations, operation)
	return nil
}

// position says which of the register's rows a key is; a new one is the next.
func (r *register) position(key int64) (int, error) {
	for position, known := range r.keys {
		if known == key {
			return position, nil
		}
	}
	if len(r.keys) == rowsMax {
		return 0, fmt.Errorf("register %s has more than %d rows", r.name, rowsMax)
	}
	r.keys = append(r.keys, key)
	return len(r.keys) - 1, nil
}

// endTheUnknown has the operations without a reply return after all others.
func (r *register) endTheUnknown() {
	var latest int64
	for _, operation := range r.operations {
		for _, time := range []int64{operation.Call, operation.Return} {
			if time > latest {
				latest = time
			}
		}
	}
	for i := range r.operations {
		if r.operations[i].Output == unknown {
			r.operations[i].Return = latest + 1
		}
	}
}
