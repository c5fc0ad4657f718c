package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"sluice/shared/platform/property"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

// The marks, and the sizes for which they are.
const (
	manyFields   = 2000
	manyItems    = 1000
	fieldsOfItem = 30

	fieldsMark     = 50 * time.Millisecond
	normalizedMark = 150 * time.Millisecond
	replyMark      = 300_000
	// replyLimit is the size of the largest reply that Lambda returns.
	replyLimit = 6 << 20
)

// printSizes measures whole policies and prints each figure with its mark.
func printSizes(w io.Writer, rounds int) error {
	if err := printFields(w, rounds); err != nil {
		return err
	}
	return printItems(w, rounds)
}

// printFields measures a policy of many fields.
func printFields(w io.Writer, rounds int) error {
	program, compile, err := compileBest(largePolicy(manyFields), rounds)
	if err != nil {
		return err
	}
	request := requestOf(singleValues(manyFields))
	result, evaluation, err := evaluateBest(program, request, rounds)
	if err != nil {
		return err
	}
	reply, encoding, err := encodeBest(func() (any, error) { return result, nil }, rounds)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nA policy of %d fields, of which %d are shown; compiled in %s\n", manyFields,
		len(result.EvaluatedFields), millis(compile))
	printMark(w, "evaluated", millis(evaluation), millis(fieldsMark), evaluation <= fieldsMark)
	fmt.Fprintf(w, "  %-28s %12s\n", "plain reply", kilobytes(reply))
	fmt.Fprintf(w, "  %-28s %12s\n", "its JSON", millis(encoding))
	return nil
}

// printItems measures a collection of many items, plain and normalized.
func printItems(w io.Writer, rounds int) error {
	program, compile, err := compileBest(collectionPolicy(fieldsOfItem), rounds)
	if err != nil {
		return err
	}
	result, evaluation, err := evaluateBest(program, requestOf(collectionValues(manyItems, fieldsOfItem)), rounds)
	if err != nil {
		return err
	}
	normalize := func() (any, error) { return evaluate.Normalize(result, math.MaxInt) }
	normalizedBytes, normalizing, err := encodeBest(normalize, rounds)
	if err != nil {
		return err
	}
	plainBytes, encoding, err := encodeBest(func() (any, error) { return result, nil }, rounds)
	if err != nil {
		return err
	}
	total := evaluation + normalizing
	fmt.Fprintf(w, "\nA collection of %d items with %d fields; compiled in %s\n", manyItems, fieldsOfItem,
		millis(compile))
	fmt.Fprintf(w, "  %-28s %12s\n", "evaluated", millis(evaluation))
	printMark(w, "normalized, with its JSON", millis(total), millis(normalizedMark), total <= normalizedMark)
	printMark(w, "normalized reply", kilobytes(normalizedBytes), kilobytes(replyMark), normalizedBytes <= replyMark)
	fmt.Fprintf(w, "  %-28s %12s   %.1f times the largest reply of Lambda\n", "plain reply", kilobytes(plainBytes),
		float64(plainBytes)/replyLimit)
	fmt.Fprintf(w, "  %-28s %12s\n", "its JSON", millis(encoding))
	return nil
}

// requestOf returns a request for everything that can be had of an entity.
func requestOf(properties property.Split) evaluate.Request {
	return evaluate.Request{
		TargetEntity: targetEntity, Categories: []string{category}, Properties: properties,
		ReturnValidationErrors:      true,
		EnableAccessLayersFiltering: true, Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
	}
}

// compileBest compiles a policy, and returns the least time that it takes.
func compileBest(c policy.Contents, rounds int) (program *evaluate.Program, took time.Duration, err error) {
	took, err = best(rounds, func() (err error) {
		program, err = evaluate.Compile(c)
		return err
	})
	return program, took, err
}

// evaluateBest evaluates a request, and returns the least time that it takes.
func evaluateBest(p *evaluate.Program, r evaluate.Request, rounds int) (result evaluate.Result, took time.Duration,
	err error) {
	took, err = best(rounds, func() (err error) {
		result, err = p.Evaluate(context.Background(), r, nil)
		return err
	})
	return result, took, err
}

// encodeBest encodes what produce returns as JSON, and returns the size and the least time that both take.
func encodeBest(produce func() (any, error), rounds int) (size int, took time.Duration, err error) {
	took, err = best(rounds, func() error {
		v, err := produce()
		if err != nil {
			return err
		}
		text, err := json.Marshal(v)
		size = len(text)
		return err
	})
	return size, took, err
}

// best returns the least CPU time that f takes. It runs once more than there are rounds: the first run warms up.
func best(rounds int, f func() error) (time.Duration, error) {
	if err := f(); err != nil {
		return 0, err
	}
	least := time.Duration(math.MaxInt64)
	for range rounds {
		start := cpuTime()
		if err := f(); err != nil {
			return 0, err
		}
		least = min(least, cpuTime()-start)
	}
	return least, nil
}

// printMark prints a figure with its mark, and whether it is within.
func printMark(w io.Writer, what, figure, mark string, isWithin bool) {
	verdict := "met"
	if !isWithin {
		verdict = "MISSED"
	}
	fmt.Fprintf(w, "  %-28s %12s   mark %s: %s\n", what, figure, mark, verdict)
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

func kilobytes(n int) string { return fmt.Sprintf("%.1f KB", float64(n)/1000) }
