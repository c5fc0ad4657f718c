package admissiondb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/dynamo"
)

// gatePlace is the place of a stage's gate.
const gatePlace = "#gate"

// gateRow is the item of a gate.
type gateRow struct {
	Stage   string               `dynamodbav:"stage"`
	Place   string               `dynamodbav:"place"`
	Version int64                `dynamodbav:"version"`
	Turn    string               `dynamodbav:"turn"`
	Holders map[string]holderRow `dynamodbav:"holders"`
}

// holderRow is the map of a holder, under the ID of its batch.
type holderRow struct {
	Tenant     string `dynamodbav:"tenant"`
	ReceivedAt string `dynamodbav:"received_at"`
	Since      string `dynamodbav:"since"`
	LookAt     string `dynamodbav:"look_at"`
}

// Gate reads the gate of a stage.
func (q *Queue) Gate(ctx context.Context, s admission.Stage) (admission.Gate, error) {
	item, err := q.table.Get(ctx, key(s, gatePlace))
	if err != nil {
		return admission.Gate{}, fmt.Errorf("read the gate of %s: %w", s, err)
	}
	if item == nil {
		return admission.Gate{Stage: s, Holders: map[batch.ID]admission.Holder{}}, nil
	}
	return unmarshalGate(item)
}

// Admit adds a holder to the gate, on the condition that its version is that of the given one.
func (q *Queue) Admit(ctx context.Context, g admission.Gate, p admission.Place, at time.Time) (admission.Gate, error) {
	holder := admission.Holder{Place: p, Since: at, LookAt: at}
	write, err := q.addHolder(g, holder)
	if err == nil {
		err = q.table.Apply(ctx, fmt.Sprintf("give batch %s a slot of %s", p.Batch, g.Stage),
			write.Or(admission.ErrContended))
	}
	if err != nil {
		return admission.Gate{}, err
	}
	next := admission.Gate{Stage: g.Stage, Version: g.Version + 1, Turn: p.Tenant,
		Holders: map[batch.ID]admission.Holder{p.Batch: holder}}
	for id, h := range g.Holders {
		if id != p.Batch {
			next.Holders[id] = h
		}
	}
	return next, nil
}

// addHolder returns the write of Admit.
func (q *Queue) addHolder(g admission.Gate, h admission.Holder) (dynamo.Write, error) {
	if g.Version == 0 {
		return q.create(g.Stage, h.Tenant, map[string]holderRow{string(h.Batch): newHolderRow(h)})
	}
	row, err := attributevalue.Marshal(newHolderRow(h))
	return q.change(g.Stage, h.Batch, "SET holders.#batch = :holder, turn = :tenant, version = :next",
		"version = :version", dynamo.Item{
			":holder": row, ":tenant": dynamo.String(h.Tenant),
			":version": dynamo.Number(g.Version), ":next": dynamo.Number(g.Version + 1),
		}), err
}

// change returns the write of an update of a gate that names the holder of a batch.
func (q *Queue) change(s admission.Stage, id batch.ID, update, condition string, values dynamo.Item) dynamo.Write {
	w := q.table.Update(key(s, gatePlace), update, condition, values)
	w.Update.ExpressionAttributeNames = map[string]string{"#batch": string(id)}
	return w
}

// create returns the write of the first version of a gate, on the condition that there is none.
func (q *Queue) create(s admission.Stage, turn string, holders map[string]holderRow) (dynamo.Write, error) {
	rows, err := attributevalue.Marshal(holders)
	return q.table.Update(key(s, gatePlace), "SET holders = :holders, turn = :turn, version = :first",
		"attribute_not_exists(place)",
		dynamo.Item{":holders": rows, ":turn": dynamo.String(turn), ":first": dynamo.Number(1)}), err
}

// Release removes a holder from the gate, which it creates if there is none: its version must change, so that a
// decision under way, which may be for this batch, is not made.
func (q *Queue) Release(ctx context.Context, s admission.Stage, id batch.ID) error {
	doing := fmt.Sprintf("take the slot of %s from batch %s", s, id)
	release := q.change(s, id, "REMOVE holders.#batch SET version = version + :one", "attribute_exists(place)",
		dynamo.Item{":one": dynamo.Number(1)})
	create, err := q.create(s, "", map[string]holderRow{})
	if err != nil {
		return err
	}
	for {
		err := q.table.Apply(ctx, doing, release)
		if errors.Is(err, dynamo.ErrRefused) {
			err = q.table.Apply(ctx, doing, create)
		}
		if !errors.Is(err, dynamo.ErrRefused) { // otherwise somebody else has created it, perhaps with this holder
			return err
		}
	}
}

// Postpone sets look_at, on the condition that the batch has a slot.
func (q *Queue) Postpone(ctx context.Context, s admission.Stage, id batch.ID, at time.Time) error {
	return q.table.Apply(ctx, "postpone the look at batch "+string(id), q.change(s, id,
		"SET holders.#batch.look_at = :at", "attribute_exists(holders.#batch)",
		dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))}).Or(nil))
}

func newHolderRow(h admission.Holder) holderRow {
	return holderRow{
		Tenant: h.Tenant, ReceivedAt: dynamo.FormatTime(h.ReceivedAt), Since: dynamo.FormatTime(h.Since),
		LookAt: dynamo.FormatTime(h.LookAt),
	}
}

func unmarshalGate(item dynamo.Item) (admission.Gate, error) {
	var row gateRow
	if err := unmarshal(item, &row); err != nil {
		return admission.Gate{}, err
	}
	g := admission.Gate{Stage: admission.Stage(row.Stage), Version: row.Version, Turn: row.Turn,
		Holders: make(map[batch.ID]admission.Holder, len(row.Holders))}
	for id, h := range row.Holders {
		var holder admission.Holder
		var errs [3]error
		holder.Place, errs[0] = place(h.Tenant, h.ReceivedAt, id)
		holder.Since, errs[1] = dynamo.ParseTime(h.Since)
		holder.LookAt, errs[2] = dynamo.ParseTime(h.LookAt)
		if err := errors.Join(errs[:]...); err != nil {
			return admission.Gate{}, err
		}
		g.Holders[batch.ID(id)] = holder
	}
	return g, nil
}

// unmarshal reads an item into a row.
func unmarshal(item dynamo.Item, row any) error {
	if err := attributevalue.UnmarshalMap(item, row); err != nil {
		return fmt.Errorf("read a row of admissions: %w", err)
	}
	return nil
}
