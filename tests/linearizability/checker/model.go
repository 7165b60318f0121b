// SPDX-License-Identifier: GPL-2.0-only

package main

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"
)

// The model. A register is one row, or a few rows that one request reads or changes together; a row is absent
// or has a value. An operation is steps, each on one row of its register, which take effect one after the
// other at one instant. At first all rows are absent.

// rowsMax is how many rows a register may have.
const rowsMax = 2

// A row of a register, and what a reply says of one. The zero value is an absent row.
type row struct {
	present bool
	value   int64
}

// rows is the state of a register.
type rows [rowsMax]row

// A step does one thing to one row. Result is what the reply said: of a read the value, of an increment the
// new one, of a swap the old one (none: no such row); of the others how many rows were changed.
type step struct {
	Key      int64  `json:"key"`
	Do       string `json:"do"`
	Value    int64  `json:"value"`
	Expected int64  `json:"expected"`
	Result   *int64 `json:"result"`
	position int
}

// outcome says whether there was a reply. An operation without one may have happened at any time after it was
// sent, or never. Porcupine is told that it returned after all others: "never" is then after all that anybody
// has seen.
type outcome bool

const (
	unknown outcome = false
	known   outcome = true
)

var model = porcupine.Model{
	Init: func() interface{} { return rows{} },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		after := state.(rows)
		for _, step := range input.([]step) {
			reply := actions[step.Do](&after[step.position], step)
			if output.(outcome) == known && reply != step.reply() {
				return false, state
			}
		}
		return true, after
	},
	DescribeOperation: func(input, output interface{}) string {
		return describe(input.([]step), output.(outcome))
	},
	DescribeState: func(state interface{}) string {
		texts := []string{}
		for _, row := range state.(rows) {
			texts = append(texts, row.String())
		}
		return strings.Join(texts, ", ")
	},
}

// actions says for each kind of step what it does to a row, and what the reply is then.
var actions = map[string]func(r *row, step step) row{
	"read": func(r *row, _ step) row { return *r },
	"increment": func(r *row, step step) row {
		r.setIf(r.present, r.value+step.Value)
		return *r
	},
	"swap": func(r *row, step step) row {
		before := *r
		r.setIf(r.present, step.Value)
		return before
	},
	"update": func(r *row, step step) row { return r.setIf(r.present, step.Value) },
	"compare_and_set": func(r *row, step step) row {
		return r.setIf(r.present && r.value == step.Expected, step.Value)
	},
	"insert": func(r *row, step step) row { return r.setIf(!r.present, step.Value) },
	"delete": func(r *row, _ step) row {
		count := r.setIf(r.present, 0)
		*r = row{}
		return count
	},
}

// setIf gives the row a value if the condition holds. The reply is how many rows were changed.
func (r *row) setIf(condition bool, value int64) row {
	if !condition {
		return row{present: true, value: 0}
	}
	*r = row{present: true, value: value}
	return row{present: true, value: 1}
}

func (s step) reply() row {
	if s.Result == nil {
		return row{}
	}
	return row{present: true, value: *s.Result}
}

func (r row) String() string {
	if !r.present {
		return "absent"
	}
	return fmt.Sprint(r.value)
}

func describe(steps []step, outcome outcome) string {
	texts := []string{}
	for _, step := range steps {
		text := fmt.Sprintf("%s %d", step.Do, step.Key)
		switch step.Do {
		case "compare_and_set":
			text += fmt.Sprintf(" from %d to %d", step.Expected, step.Value)
		case "increment":
			text += fmt.Sprintf(" by %d", step.Value)
		case "insert", "update", "swap":
			text += fmt.Sprintf(" to %d", step.Value)
		}
		if outcome == known {
			text += " -> " + step.reply().String()
		} else {
			text += ", no reply"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}
