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

// Admit adds a holder to the gate, on the condition that its version is that of the given one.
func (q *Queue) Admit(ctx context.Context, g admission.Gate, t admission.Ticket, at time.Time) (admission.Gate, error) {
	holder := admission.Holder{Place: t.Place, Round: t.Round, Since: at, LookAt: at}
	row, err := attributevalue.Marshal(newHolderRow(holder))
	if err != nil {
		return admission.Gate{}, err
	}
	doing := fmt.Sprintf("give batch %s a slot of %s", t.Batch, g.Pool)
	if g.Version == 0 {
		holders := map[string]holderRow{string(t.Batch): newHolderRow(holder)}
		var create dynamo.Write
		if create, err = q.create(g.Pool, t.Tenant, holders); err == nil {
			err = q.table.Apply(ctx, doing, create.Or(admission.ErrContended))
		}
	} else {
		err = q.changeVersion(ctx, doing, g, t.Batch, "SET holders.#batch = :holder, turn = :tenant, version = :next",
			dynamo.Item{":holder": row, ":tenant": dynamo.String(t.Tenant)})
	}
	if err != nil {
		return admission.Gate{}, err
	}
	return g.WithHolder(holder), nil
}

// EndRound removes a holder from the gate, on the condition that its version is that of the given one.
func (q *Queue) EndRound(ctx context.Context, g admission.Gate, id batch.ID) (admission.Gate, error) {
	err := q.changeVersion(ctx, fmt.Sprintf("end the round of batch %s in %s", id, g.Pool), g, id,
		"REMOVE holders.#batch SET version = :next", dynamo.Item{})
	return g.WithoutHolder(id), err
}

// Adapt sets the number of slots, on the condition that the version of the gate is that of the given one.
func (q *Queue) Adapt(ctx context.Context, g admission.Gate, slots int, at time.Time) (admission.Gate, error) {
	err := q.changeVersion(ctx, "adapt the slots of "+string(g.Pool), g, "",
		"SET slots = :slots, adapted_at = :at, version = :next",
		dynamo.Item{":slots": dynamo.Number(int64(slots)), ":at": dynamo.String(dynamo.FormatTime(at))})
	return g.WithSlots(slots, at), err
}

// SetRefused sets refused_at, on the condition that there is a gate.
func (q *Queue) SetRefused(ctx context.Context, pool admission.Pool, at time.Time) error {
	return q.table.Apply(ctx, "record that writes are refused", q.table.Update(key(pool, gatePlace),
		"SET refused_at = :at", "attribute_exists(place)",
		dynamo.Item{":at": dynamo.String(dynamo.FormatTime(at))}).Or(nil))
}

// changeVersion changes a gate, on the condition that its version is that of the given one. The update sets the version
// to :next, and may name the holder of a batch.
func (q *Queue) changeVersion(ctx context.Context, doing string, g admission.Gate, id batch.ID, update string,
	values dynamo.Item) error {
	values[":version"], values[":next"] = dynamo.Number(g.Version), dynamo.Number(g.Version+1)
	w := q.table.Update(key(g.Pool, gatePlace), update, "version = :version", values)
	if id != "" {
		w = q.change(g.Pool, id, update, "version = :version", values)
	}
	return q.table.Apply(ctx, doing, w.Or(admission.ErrContended))
}

// change returns the write of an update of a gate that names the holder of a batch.
func (q *Queue) change(pool admission.Pool, id batch.ID, update, condition string, values dynamo.Item) dynamo.Write {
	w := q.table.Update(key(pool, gatePlace), update, condition, values)
	w.Update.ExpressionAttributeNames = map[string]string{"#batch": string(id)}
	return w
}

// create returns the write of the first version of a gate, on the condition that there is none.
func (q *Queue) create(pool admission.Pool, turn string, holders map[string]holderRow) (dynamo.Write, error) {
	rows, err := attributevalue.Marshal(holders)
	return q.table.Update(key(pool, gatePlace), "SET holders = :holders, turn = :turn, version = :first",
		"attribute_not_exists(place)",
		dynamo.Item{":holders": rows, ":turn": dynamo.String(turn), ":first": dynamo.Number(1)}), err
}

// Release removes a holder from the gate, which it creates if there is none: its version must change, so that a
// decision under way, which may be for this batch, is not made.
func (q *Queue) Release(ctx context.Context, pool admission.Pool, id batch.ID) error {
	doing := fmt.Sprintf("take the slot of %s from batch %s", pool, id)
	release := q.change(pool, id, "REMOVE holders.#batch SET version = version + :one", "attribute_exists(place)",
		dynamo.Item{":one": dynamo.Number(1)})
	create, err := q.create(pool, "", map[string]holderRow{})
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
func (q *Queue) Postpone(ctx context.Context, pool admission.Pool, id batch.ID, at time.Time) error {
	return q.table.Apply(ctx, "postpone the look at batch "+string(id), q.change(pool, id,
		"SET holders.#batch.look_at = :at", "attribute_exists(holders.#batch)",
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
	for at, text := range map[*time.Time]string{&g.AdaptedAt: row.AdaptedAt, &g.RefusedAt: row.RefusedAt} {
		var err error
		if *at, err = parseOptionalTime(text); err != nil {
			return admission.Gate{}, err
		}
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

// parseOptionalTime returns the zero time for an absent one.
func parseOptionalTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return dynamo.ParseTime(text)
}

// unmarshal reads an item into a row.
func unmarshal(item dynamo.Item, row any) error {
	if err := attributevalue.UnmarshalMap(item, row); err != nil {
		return fmt.Errorf("read a row of admissions: %w", err)
	}
	return nil
}
