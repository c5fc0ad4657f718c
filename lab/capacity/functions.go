package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
)

// readsAtATime is how many sections of work files a function reads at the same time.
const readsAtATime = 8

// functions are what the functions of the state machine do, by their IDs in the template. Each goes on with its output.
var functions = map[string]func(s *simulation, b *batchRun, input map[string]any, done func(output any)){
	"AdmitFunction": (*simulation).admit,
	"PlanFunction":  (*simulation).plan,
	"ValidateFunction": func(s *simulation, b *batchRun, input map[string]any, done func(any)) {
		start, end := b.chunks.Range(input["chunk"].(int))
		s.busy(float64(end-start)/s.ReadSpeed, 0, done)
	},
	"DigestFunction": func(s *simulation, b *batchRun, _ map[string]any, done func(any)) {
		s.busy(b.bytes/s.ReadSpeed, 0, done)
	},
	"ReconcileFunction": func(s *simulation, b *batchRun, _ map[string]any, done func(any)) {
		reads := float64(b.chunks.Count()) // one range of each index
		s.busy(reads*s.GetLatency/readsAtATime, reads, done)
	},
	"SettleFunction": func(s *simulation, _ *batchRun, _ map[string]any, done func(any)) {
		s.busy(s.GetLatency, 1, done)
	},
	"VerdictFunction": func(s *simulation, b *batchRun, _ map[string]any, done func(any)) {
		s.busy(float64(b.chunks.Count())*s.GetLatency/readsAtATime, 0, func(any) {
			s.check(s.slots.Leave(context.Background(), admission.Validation, b.Batch))
			done(map[string]any{"ingest": true, "digest": false})
		})
	},
	"IngestFunction":  (*simulation).ingest,
	"ProcessFunction": (*simulation).process,
	"CloseFunction": func(s *simulation, b *batchRun, input map[string]any, done func(any)) {
		err := s.slots.Leave(context.Background(), admission.Ingestion, b.Batch)
		if _, hasFailed := input["failure"]; hasFailed {
			err = s.slots.LeaveAll(context.Background(), b.Batch)
		}
		s.check(err)
		done(nil)
	},
}

// busy takes a time, in which it reads work files.
func (s *simulation) busy(seconds, gets float64, done func(any)) {
	s.result.spread(s.now, seconds, func(u *use, share float64) { u.gets += share * gets })
	s.after(seconds, func() { done(nil) })
}

// admit makes a batch wait for a slot.
func (s *simulation) admit(b *batchRun, input map[string]any, done func(any)) {
	if b.waitsSince == 0 {
		b.waitsSince = s.now
	}
	round, _ := input["round"].(int)
	s.check(s.slots.Enter(context.Background(), admission.Ticket{
		Pool:  s.slots.PoolOf(admission.Stage(input["stage"].(string)), b.Batch),
		Place: admission.PlaceOf(b.Batch), Round: round, Token: input["token"].(string),
		Attempt: admission.Attempt{Entered: input["entered"].(time.Time), Retry: input["retry"].(int)},
	}))
	done(nil)
}

// Complete implements admission.Tasks.
func (s *simulation) Complete(_ context.Context, token string) (isWaiting bool, err error) {
	task, isWaiting := s.tokens[token]
	if isWaiting {
		task.b.waited += s.now - task.b.waitsSince
		task.b.waitsSince = 0
		task.complete()
	}
	return isWaiting, nil
}

// plan returns the chunks and ranges of partitions of a batch, whose names are not screened.
func (s *simulation) plan(b *batchRun, _ map[string]any, done func(any)) {
	chunks := make([]any, b.chunks.Count())
	for i := range chunks {
		chunks[i] = i
	}
	widths := map[string]any{}
	for _, name := range []string{"Validate", "Reconcile", "Screen", "Settle", "Ingest"} {
		widths[strings.ToLower(name)] = s.parameter(name + "Concurrency")
	}
	var rounds []any
	for round := range slices.Chunk(chunks, s.parameter("RoundChunks")) {
		rounds = append(rounds, round)
	}
	done(map[string]any{"batch_id": string(b.ID), "chunks": chunks, "rounds": rounds,
		"partitions": make([]any, b.ranges), "screening": []any{}, "widths": widths, "whole": len(chunks) == 1})
}

// process validates and stores a file of one chunk.
func (s *simulation) process(b *batchRun, _ map[string]any, done func(any)) {
	s.busy(b.bytes/s.ReadSpeed, batch.Partitions, func(any) {
		s.ingest(b, map[string]any{"chunk": 0}, func(output any) {
			if output.(map[string]any)["done"] == true {
				s.check(s.slots.Leave(context.Background(), admission.Validation, b.Batch))
			}
			done(output)
		})
	})
}

// ingest stores what is left of a chunk. After its time it ends, and the next run goes on.
func (s *simulation) ingest(b *batchRun, input map[string]any, done func(any)) {
	chunk := input["chunk"].(int)
	left, isKnown := b.left[chunk]
	if !isKnown {
		start, end := b.chunks.Range(chunk)
		left = float64(end-start) / s.LineBytes
	}
	s.table.store(left, float64(s.parameter("IngestSeconds")), func(left float64) {
		b.left[chunk] = left
		if left > 0 {
			s.result.resumed++
		}
		done(map[string]any{"done": left == 0})
	})
}
