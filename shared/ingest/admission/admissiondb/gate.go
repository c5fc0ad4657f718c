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

// gatePlace is the place of a pool's gate.
const gatePlace = "#gate"

// gateRow is the item of a gate.
type gateRow struct {
	Pool    string               `dynamodbav:"stage"`
	Place   string               `dynamodbav:"place"`
	Version int64                `dynamodbav:"version"`
	Turn    string               `dynamodbav:"turn"`
	Holders map[string]holderRow `dynamodbav:"holders"`
	// Slots and the times are absent until they are set.
	Slots     int    `dynamodbav:"slots"`
	AdaptedAt string `dynamodbav:"adapted_at"`
	RefusedAt string `dynamodbav:"refused_at"`
}

// holderRow is the map of a holder, under the ID of its batch.
type holderRow struct {
	Tenant     string `dynamodbav:"tenant"`
	Round      int    `dynamodbav:"round"`
	ReceivedAt string `dynamodbav:"received_at"`
	Since      string `dynamodbav:"since"`
	LookAt     string `dynamodbav:"look_at"`
}

// Gate reads the gate of a pool.
func (q *Queue) Gate(ctx context.Context, pool admission.Pool) (admission.Gate, error) {
	item, err := q.table.Get(ctx, key(pool, gatePlace))
	if err != nil {
		return admission.Gate{}, fmt.Errorf("read the gate of %s: %w", pool, err)
	}
	if item == nil {
		return admission.Gate{Pool: pool, Holders: map[batch.ID]admission.Holder{}}, nil
	}
	return unmarshalGate(item)
}

// Admit adds holders to the gate, on the condition that its version is that of the given one.
func (q *Queue) Admit(ctx context.Context, g admission.Gate, at time.Time,
	tickets ...admission.Ticket) (admission.Gate, error) {
	var holders []admission.Holder
	rows, update := map[string]holderRow{}, "SET turn = :turn, version = :next"
	values, names := dynamo.Item{}, map[string]string{}
	for i, t := range tickets {
		h := admission.HolderOf(t, at)
		holders, rows[string(h.Batch)] = append(holders, h), newHolderRow(h)
		name := fmt.Sprint("holder", i)
		row, err := attributevalue.Marshal(rows[string(h.Batch)])
		if err != nil {
			return admission.Gate{}, err
		}
		update += fmt.Sprintf(", holders.#%s = :%s", name, name)
		names["#"+name], values[":"+name] = string(h.Batch), row
	}
	next := g.WithHolders(holders...)
	doing := fmt.Sprintf("give %d batches slots of %s", len(tickets), g.Pool)
	if g.Version == 0 {
		create, err := q.create(g.Pool, next.Turn, rows)
		if err != nil {
			return admission.Gate{}, err
		}
		return next, q.table.Apply(ctx, doing, create.Or(admission.ErrContended))
	}
	values[":turn"] = dynamo.String(next.Turn)
	return next, q.changeVersion(ctx, doing, g, update, "version = :version", names, values)
}

// EndRound removes a holder from the gate, on the condition that it is one and that the version of the gate is that of
// the given one.
func (q *Queue) EndRound(ctx context.Context, g admission.Gate, id batch.ID) (admission.Gate, error) {
	return g.WithoutHolder(id), q.changeVersion(ctx, fmt.Sprintf("end the round of batch %s in %s", id, g.Pool), g,
		"REMOVE holders.#batch SET version = :next", "version = :version AND attribute_exists(holders.#batch)",
		nameOf(id), dynamo.Item{})
}

// Adapt sets the number of slots, on the condition that the version of the gate is that of the given one.
func (q *Queue) Adapt(ctx context.Context, g admission.Gate, slots int, at time.Time) (admission.Gate, error) {
	err := q.changeVersion(ctx, "adapt the slots of "+string(g.Pool), g,
		"SET slots = :slots, adapted_at = :at, version = :next", "version = :version", nil,
		dynamo.Item{":slots": dynamo.Number(int64(slots)), ":at": dynamo.String(dynamo.FormatTime(at))})
	return g.WithSlots(slots, at), err
}

// SetRefused sets refused_at, on the condition that there is a gate.
func (q *Queue) SetRefused(ctx context.Context, pool admission.Pool, at time.Time) error {
	return q.table.Apply(ctx, "record that writes are refused", q.table.Update(key(pool, gatePlace),
		"SET refused_at = :at", "attribute_exists(place)",
		dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))}).Or(nil))
}

// changeVersion changes a gate. The condition compares its version with :version, that of the given one, and the update
// sets it to :next.
func (q *Queue) changeVersion(ctx context.Context, doing string, g admission.Gate, update, condition string,
	names map[string]string, values dynamo.Item) error {
	values[":version"], values[":next"] = dynamo.Number(g.Version), dynamo.Number(g.Version+1)
	return q.table.Apply(ctx, doing, q.update(g.Pool, update, condition, names, values).Or(admission.ErrContended))
}

// update returns the write of an update of a gate.
func (q *Queue) update(pool admission.Pool, update, condition string, names map[string]string,
	values dynamo.Item) dynamo.Write {
	w := q.table.Update(key(pool, gatePlace), update, condition, values)
	w.Update.ExpressionAttributeNames = names
	return w
}

// nameOf returns the name of a batch in the expressions that change its holder.
func nameOf(id batch.ID) map[string]string { return map[string]string{"#batch": string(id)} }

// create returns the write of the first version of a gate, on the condition that there is none.
func (q *Queue) create(pool admission.Pool, turn string, holders map[string]holderRow) (dynamo.Write, error) {
	rows, err := attributevalue.Marshal(holders)
	return q.table.Update(key(pool, gatePlace), "SET holders = :holders, turn = :turn, version = :first",
		"attribute_not_exists(place)",
		dynamo.Item{":holders": rows, ":turn": dynamo.String(turn), ":first": dynamo.Number(1)}), err
}

// Release removes a holder from the gate. If it is none, it increments the version of the gate, which it creates if
// there is none, so that a decision under way, which may be for this batch, is not made.
func (q *Queue) Release(ctx context.Context, pool admission.Pool, id batch.ID) error {
	doing := fmt.Sprintf("take the slot of %s from batch %s", pool, id)
	create, err := q.create(pool, "", map[string]holderRow{})
	if err != nil {
		return err
	}
	writes := []dynamo.Write{
		q.update(pool, "REMOVE holders.#batch", "attribute_exists(holders.#batch)", nameOf(id), nil),
		q.update(pool, "REMOVE holders.#batch SET version = version + :one", "attribute_exists(place)", nameOf(id),
			dynamo.Item{":one": dynamo.Number(1)}),
		create,
	}
	for {
		for _, w := range writes {
			if err := q.table.Apply(ctx, doing, w); !errors.Is(err, dynamo.ErrRefused) {
				return err
			}
		}
		// Somebody else has created the gate since, perhaps with this holder.
	}
}

// Postpone sets look_at, on the condition that the batch has a slot.
func (q *Queue) Postpone(ctx context.Context, pool admission.Pool, id batch.ID, at time.Time) error {
	return q.table.Apply(ctx, "postpone the look at batch "+string(id), q.update(pool,
		"SET holders.#batch.look_at = :at", "attribute_exists(holders.#batch)", nameOf(id),
		dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))}).Or(nil))
}

func newHolderRow(h admission.Holder) holderRow {
	return holderRow{
		Tenant: h.Tenant, Round: h.Round, ReceivedAt: dynamo.FormatTime(h.ReceivedAt),
		Since: dynamo.FormatTime(h.Since), LookAt: dynamo.FormatTime(h.LookAt),
	}
}

func unmarshalGate(item dynamo.Item) (admission.Gate, error) {
	var row gateRow
	if err := unmarshal(item, &row); err != nil {
		return admission.Gate{}, err
	}
	g := admission.Gate{Pool: admission.Pool(row.Pool), Version: row.Version, Turn: row.Turn, Slots: row.Slots,
		Holders: make(map[batch.ID]admission.Holder, len(row.Holders))}
	var errs [2]error
	g.AdaptedAt, errs[0] = dynamo.ParseTime(row.AdaptedAt)
	g.RefusedAt, errs[1] = dynamo.ParseTime(row.RefusedAt)
	if err := errors.Join(errs[:]...); err != nil {
		return admission.Gate{}, err
	}
	for id, h := range row.Holders {
		holder := admission.Holder{Round: h.Round}
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
