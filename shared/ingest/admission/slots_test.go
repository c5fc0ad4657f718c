package admission_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiondb"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/kit/dynamo/dynamotest"
)

// newModel returns a model whose events all follow from a seed.
func newModel(t *testing.T, q admission.Queue, seed uint64) *model {
	random := rand.New(rand.NewPCG(seed, 16))
	slots := 1 + random.IntN(4)
	return &model{
		t: t, random: random, queue: q, now: time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC), deathRate: 0.06,
		limits: admission.Limits{Slots: slots, PerTenant: 1 + random.IntN(slots)},
	}
}

// For any kills and any lost answers, there are never more slots than allowed, no slot is lost for ever, and everyone
// has a turn.
func TestSlotsSurviveDeaths(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			newModel(t, admissiontest.NewMemory(), seed).run(4, 4)
		})
	}
}

// The same on a real server.
func TestSlotsSurviveDeathsOnDynamoDB(t *testing.T) {
	q := admissiondb.New(dynamotest.Start(t), "test-admission")
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			newModel(t, q, 1000+seed).run(3, 3)
		})
	}
}
