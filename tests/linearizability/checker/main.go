// SPDX-License-Identifier: GPL-2.0-only

// Command checker reads a history of concurrent clients (see history.go) and asks Porcupine whether it is
// linearizable, register by register. What is not is told by the first reply that nothing explains, and drawn
// into an HTML file.
//
//	checker [-time-limit 60s] [-pictures FOLDER] HISTORY
//
// It ends with 0: linearizable; 1: not linearizable; 2: the history cannot be read; 3: not decided in time.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	exitLinearizable = iota
	exitNotLinearizable
	exitUnreadable
	exitUndecided
)

const (
	toldMax    = 3  // registers of which it is told why they are not linearizable
	repliesMax = 12 // told before the one that nothing explains
)

func main() {
	limit := flag.Duration("time-limit", 60*time.Second, "for all registers together")
	pictures := flag.String("pictures", ".", "folder for a picture of each register that is told of")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(exitUnreadable)
	}
	registers, err := readFile(flag.Arg(0))
	if err != nil {
		fmt.Printf("%s: %v\n", flag.Arg(0), err)
		os.Exit(exitUnreadable)
	}
	os.Exit(check(registers, *limit, *pictures))
}

func readFile(path string) ([]*register, error) {
	source, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	return readHistory(source)
}

func check(registers []*register, limit time.Duration, pictures string) int {
	began := time.Now()
	operations, illegal, undecided := 0, 0, 0
	for _, register := range registers {
		operations += len(register.operations)
		switch register.check(limit - time.Since(began)) {
		case porcupine.Illegal:
			illegal++
			if illegal <= toldMax {
				register.tellWhy(limit, pictures)
			}
		case porcupine.Unknown:
			undecided++
			fmt.Printf("register %s is not decided: %d operations\n", register.name, len(register.operations))
		}
	}
	fmt.Printf("%d registers, %d operations: %d registers not linearizable, %d not decided, in %.1f s\n",
		len(registers), operations, illegal, undecided, time.Since(began).Seconds())
	switch {
	case illegal > 0:
		return exitNotLinearizable
	case undecided > 0:
		return exitUndecided
	}
	return exitLinearizable
}

func (r *register) check(timeLeft time.Duration) porcupine.CheckResult {
	if timeLeft <= 0 {
		return porcupine.Unknown // to Porcupine, a limit of nothing is no limit
	}
	return porcupine.CheckOperationsTimeout(model, r.operations, timeLeft)
}

// tellWhy names the reply at which the best attempt to put the operations into an order had to stop.
func (r *register) tellWhy(limit time.Duration, pictures string) {
	_, information := porcupine.CheckOperationsVerbose(model, r.operations, limit)
	byReturn := make([]int, len(r.operations))
	for i := range byReturn {
		byReturn[i] = i
	}
	sort.SliceStable(byReturn, func(i, j int) bool {
		return r.operations[byReturn[i]].Return < r.operations[byReturn[j]].Return
	})
	unexplained := 0
	for _, order := range information.PartialLinearizations()[0] {
		if stop := firstMissing(byReturn, order); stop > unexplained {
			unexplained = stop
		}
	}
	fmt.Printf("register %s is not linearizable. ", r.name)
	fmt.Printf("The first reply, of %d, that nothing explains (times in ns):\n", len(byReturn))
	r.tell(byReturn[unexplained])
	fmt.Println("  the replies before it, the last first:")
	for i := unexplained - 1; i >= 0 && i >= unexplained-repliesMax; i-- {
		r.tell(byReturn[i])
	}
	r.draw(information, pictures)
}

// firstMissing is the position in byReturn of the first operation that is not in the order.
func firstMissing(byReturn, order []int) int {
	in := map[int]bool{}
	for _, operation := range order {
		in[operation] = true
	}
	for position, operation := range byReturn {
		if !in[operation] {
			return position
		}
	}
	return len(byReturn) - 1
}

func (r *register) tell(number int) {
	operation := r.operations[number]
	text := describe(operation.Input.([]step), operation.Output.(outcome))
	fmt.Printf("    client %4d, %d to %d: %s\n", operation.ClientId, operation.Call, operation.Return, text)
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

func (r *register) draw(information porcupine.LinearizationInfo, pictures string) {
	path := filepath.Join(pictures, notInNames.ReplaceAllString(r.name, "-")+".html")
	if err := porcupine.VisualizePath(model, information, path); err != nil {
		fmt.Printf("  no picture: %v\n", err)
		return
	}
	fmt.Printf("  picture: %s\n", path)
}
