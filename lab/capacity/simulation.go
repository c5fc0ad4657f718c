package main

import (
	"cmp"
	"container/heap"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/cost"
	"sluice/lab/account"
	"sluice/local/template"
	"sluice/shared/ingest/admission"
	"sluice/shared/ingest/admission/admissiontest"
	"sluice/shared/ingest/batch"
	"sluice/shared/ingest/chunk"
)

// simulation is the state of an account while batches run in it.
type simulation struct {
	assumptions
	rng    *rand.Rand
	now    float64
	events eventQueue
	number int64

	parameters map[string]string
	machine    *machine
	// functions are those of the template by their names.
	functions map[string]function
	table     table
	// lineUnits are the write units of a stored line.
	lineUnits float64
	slots     *admission.Slots
	// tokens are those of the tasks that wait for them.
	tokens map[string]waitingTask
	result result
	// running is the number of executions of functions.
	running int
}

// function is a function of the template, and the concurrent executions that it shares with others.
type function struct {
	id   string
	pool *pool
}

// waitingTask is the task of a batch that waits for its token.
type waitingTask struct {
	b        *batchRun
	complete func()
}

// pool is a number of concurrent executions.
type pool struct{ running, limit int }

// batchRun is one batch on its way.
type batchRun struct {
	batch.Batch
	load   *load
	bytes  float64
	chunks chunk.Plan
	ranges int
	// left has the lines that are left of the chunks that were stored in part.
	left map[int]float64
	// arrived is when its upload ended, ended its own end, and waited how long it has waited for slots. waitsSince is
	// when it began to wait; 0 if it does not.
	arrived, ended, waited, waitsSince float64
	failed                             bool
}

// service is what is simulated: the template, and the state machine in it.
type service struct {
	template   *template.Template
	definition []byte
	machine    *machine
}

// readService reads the project with the parameters of some assumptions.
func readService(a assumptions) (service, error) {
	dir, err := account.Project()
	if err != nil {
		return service{}, err
	}
	t, err := template.Load(filepath.Join(dir, "template.yaml"), template.Target{Region: "eu-west-1",
		Account: "000000000000", Stack: "sluice", Parameters: map[string]string{"Environment": "test"}}, a.set)
	if err != nil {
		return service{}, err
	}
	for _, m := range t.Machines {
		if m.ID == "BatchStateMachine" {
			machine, err := readMachine(m.Definition)
			return service{t, m.Definition, machine}, err
		}
	}
	return service{}, fmt.Errorf("the template has no BatchStateMachine")
}

// simulate runs all batches to their ends. seed decides when they arrive and how long pauses are.
func simulate(a assumptions, of service, seed uint64) result {
	s := newSimulation(a, of, seed)
	for i := range a.loads {
		s.addLoad(&a.loads[i])
	}
	for len(s.events) > 0 {
		e := heap.Pop(&s.events).(*event)
		s.now = e.at
		e.do()
	}
	s.result.finalUnits = s.table.capacity
	return s.result
}

// newSimulation returns an account with a service in it.
func newSimulation(a assumptions, of service, seed uint64) *simulation {
	s := &simulation{assumptions: a, parameters: of.template.Parameters, machine: of.machine,
		rng: rand.New(rand.NewPCG(seed, 1)), tokens: map[string]waitingTask{}, functions: map[string]function{}}
	lines := cost.Load{Lines: 1e6, Bytes: int64(1e6 * a.LineBytes), Batches: 1}
	s.lineUnits = cost.UsageOf(lines).LineWrites / float64(lines.Lines)
	s.result = newResult(a)
	s.table = table{s: s, capacity: a.StartUnits}
	if _, units, isWarm := strings.Cut(s.parameters["TransactionsWarmThroughput"], ","); isWarm {
		s.table.capacity, _ = strconv.ParseFloat(units, 64)
	}
	unreserved := &pool{limit: a.Executions - a.Base}
	for _, f := range of.template.Functions {
		p := unreserved
		if f.Concurrency > 0 {
			p = &pool{limit: f.Concurrency}
			unreserved.limit -= f.Concurrency
		}
		s.functions[f.Name] = function{f.ID, p}
	}
	slots := of.template.Functions[slices.IndexFunc(of.template.Functions, func(f template.Function) bool {
		return f.ID == "AdmitFunction"
	})].Environment["SLOTS"]
	limits, err := admission.ParseLimits(slots, s.parameters["TransactionsWarmThroughput"],
		s.parameter("IngestConcurrency"))
	s.check(err)
	s.slots = &admission.Slots{
		Queue: admissiontest.NewMemory(), Tasks: s, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Now:    func() time.Time { return s.timeAt(s.now) },
		Limits: limits, SmallBytes: int64(s.parameter("SmallBatchBytes")),
	}
	return s
}

// addLoad makes batches arrive. Those of several tenants alternate.
func (s *simulation) addLoad(l *load) {
	for i := range l.batches * l.tenants {
		b := &batchRun{load: l, bytes: l.bytes, left: map[int]float64{}, arrived: l.from + s.rng.Float64()*l.over}
		b.ID = batch.ID(fmt.Sprintf("%s-%d", l.name, i))
		b.Tenant = fmt.Sprintf("%s-%03d", l.name, i%l.tenants)
		b.ReceivedAt, b.Object.Size = s.timeAt(b.arrived), int64(l.bytes)
		b.chunks = chunk.NewPlan(b.Object.Size, int64(s.parameter("ChunkBytes")))
		b.ranges = int(cost.UsageOf(cost.Load{Lines: 1, Bytes: b.Object.Size, Batches: 1}).Ranges)
		s.result.batches = append(s.result.batches, b)
		s.after(b.arrived+b.bytes/s.ScanSpeed, func() {
			s.result.note(s.now, func(u *use) { u.starts++ })
			execution := &run{simulation: s, b: b, machine: s.machine}
			execution.done = func(_ any, failure string) { b.ended, b.failed = s.now, failure != "" }
			execution.enter(s.machine.StartAt, map[string]any{"batch_id": string(b.ID)})
		})
	}
}

// parameter returns the value of a parameter of the template.
func (s *simulation) parameter(name string) int {
	n, err := strconv.Atoi(s.parameters[name])
	s.check(err)
	return n
}

// check ends the simulation after an error that it cannot have.
func (s *simulation) check(err error) {
	if err != nil {
		panic(err)
	}
}

// timeAt returns a time of the simulation as one of the calendar.
func (s *simulation) timeAt(seconds float64) time.Time {
	return time.Unix(0, 0).UTC().Add(time.Duration(seconds * float64(time.Second)))
}

// invoke runs a function, which goes on with its output, or with an error if the account has no room.
func (s *simulation) invoke(b *batchRun, arn string, input map[string]any, done func(output any, failure string)) {
	f := s.functions[strings.Split(arn, ":")[6]]
	if f.pool.running >= f.pool.limit {
		s.result.throttled++
		done(nil, "Lambda.TooManyRequestsException")
		return
	}
	s.result.invocations++
	f.pool.running++
	s.running++
	s.result.note(s.now, func(u *use) { u.executions = max(u.executions, float64(s.running)) })
	started := s.now
	s.after(s.Overhead, func() {
		functions[f.id](s, b, input, func(output any) {
			f.pool.running--
			s.running--
			s.result.busySeconds += s.now - started
			done(output, "")
		})
	})
}

// event is something that happens at a time. Events of one time happen in the order of their numbers.
type event struct {
	at     float64
	number int64
	do     func()
}

// after makes something happen later.
func (s *simulation) after(delay float64, do func()) {
	s.number++
	heap.Push(&s.events, &event{s.now + delay, s.number, do})
}

type eventQueue []*event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].at, q[j].at), cmp.Compare(q[i].number, q[j].number)) < 0
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(*event)) }
func (q *eventQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
