package transactionhttp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/find"
	"sluice/shared/ingest/observation"
	"sluice/shared/ingest/transaction"
	"sluice/shared/kit/fault"
)

// Limits of a page of a payment.
const (
	defaultPaymentLimit = 50
	maxPaymentLimit     = 100
	// paymentHits is how many lines are found at a time, and maxPaymentReads how many transactions are read for a page.
	paymentHits     = 100
	maxPaymentReads = 200
	// concurrentTransactions is how many transactions are read at the same time.
	concurrentTransactions = 8
)

// hits is the part of find.Hits that payments need.
type hits interface {
	Read(ctx context.Context, p find.Page) (found []find.Hit, next *find.Position, until time.Time, err error)
}

// PaymentReply are transactions of a payment, each as its own reply has it.
type PaymentReply struct {
	// Items are replies as JSON.
	Items []json.RawMessage
	Next  *string
}

// EncodeJSON returns the reply as JSON in which each line is byte for byte as it was sent.
func (r PaymentReply) EncodeJSON() ([]byte, error) {
	next, err := json.Marshal(r.Next)
	if err != nil {
		return nil, err
	}
	items := make([][]byte, len(r.Items))
	for i, item := range r.Items {
		items[i] = item
	}
	return fmt.Appendf(nil, `{"items":[%s],"next":%s}`, bytes.Join(items, []byte(",")), next), nil
}

// ReadPayment returns the transactions of a payment: those of which the newest visible version of a modification names
// it. Each is where the first of these versions is among the lines of the payment, the one received last first.
func (s *Transactions) ReadPayment(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	values, id, source := r.URL.Query(), r.PathValue(paymentName), fault.InPath
	if id == "" {
		id, source = values.Get(paymentName), fault.InQuery
	}
	audit.AddObject(ctx, paymentName, id)
	if err := httpapi.CheckID(source, paymentName, id, transaction.MaxIDBytes); err != nil {
		return httpapi.Reply{}, err
	}
	limit, err := httpapi.QueryLimit(values, defaultPaymentLimit, maxPaymentLimit)
	if err != nil {
		return httpapi.Reply{}, err
	}
	query := "payment " + id
	text, err := s.Paging.OpenQuery(caller.Tenant, query, values)
	if err != nil {
		return httpapi.Reply{}, err
	}
	p := &paymentPage{s: s, tenant: caller.Tenant, id: id, limit: limit, budget: httpapi.ListBudget, now: s.Now(),
		read: map[string]*paymentTransaction{}}
	if p.begin, err = parsePlace(text); err != nil {
		return httpapi.Reply{}, err
	}
	end, err := p.fill(ctx)
	if err != nil {
		return httpapi.Reply{}, err
	}
	out := PaymentReply{Items: p.items}
	if token := s.Paging.Seal(caller.Tenant, query, end); token != "" {
		out.Next = &token
	}
	return httpapi.Reply{Body: out}, nil
}

// place is the place of a line among the lines of a payment.
type place struct {
	Position      string    `json:"p"`
	At            time.Time `json:"t"`
	TransactionID string    `json:"x"`
	Batch         string    `json:"b,omitempty"`
	Line          int64     `json:"l,omitempty"`
}

func placeOf(h find.Hit) *place {
	return &place{h.Position.String(), h.ReceivedAt, h.TransactionID, string(h.Batch), h.Line}
}

// parsePlace reads the position of a page; nil for "", the beginning.
func parsePlace(text string) (*place, error) {
	if text == "" {
		return nil, nil
	}
	p := new(place)
	err := json.Unmarshal([]byte(text), p)
	return p, err
}

// includes reports whether the line of a version is at the place or before it: the lines received last come first, at
// one time those of batches, the greater batch first, and then the single ones, the greater transaction first.
func (p *place) includes(v transaction.Version) bool {
	if p == nil {
		return false
	}
	if p.Batch == "" && v.IsSingle() {
		return cmp.Or(v.ReceivedAt.Compare(p.At), cmp.Compare(v.TransactionID, p.TransactionID)) >= 0
	}
	return cmp.Or(v.ReceivedAt.Compare(p.At), cmp.Compare(v.Batch, p.Batch), cmp.Compare(p.Line, v.Line)) >= 0
}

// paymentPage is a page of the transactions of a payment.
type paymentPage struct {
	s          *Transactions
	tenant, id string
	// begin is the last line of the page before; nil for the first page.
	begin  *place
	limit  int
	budget httpapi.ReplyBudget
	now    time.Time
	items  []json.RawMessage
	// read are the transactions that were read, by ID.
	read map[string]*paymentTransaction
}

// paymentTransaction is a transaction that has a line of the payment.
type paymentTransaction struct {
	// versions are those of the first page of the transaction that name the payment.
	versions []transaction.Version
	// reply is nil once the transaction is on the page, or if it is not to be on it.
	reply json.RawMessage
}

// fill fills the page, and returns the position where the next one begins; "" at the end.
func (p *paymentPage) fill(ctx context.Context) (end string, err error) {
	last := p.begin
	request := find.Page{Tenant: p.tenant, ID: p.id, Kinds: []observation.Kind{observation.Payment}, Limit: paymentHits}
	if last != nil {
		if request.After, err = find.ParsePosition(last.Position); err != nil {
			return "", err
		}
	}
	for {
		found, next, _, err := p.s.Hits.Read(ctx, request)
		if err != nil {
			return "", err
		}
		for i, h := range found {
			if len(p.items) == p.limit || len(p.read) >= maxPaymentReads {
				return last.encode()
			}
			if err := p.prepare(ctx, found[i:]); err != nil {
				return "", err
			}
			if fits := p.add(h); !fits {
				return last.encode()
			}
			last = placeOf(h)
		}
		if next == nil {
			return "", nil
		}
		request.After = *next
	}
}

func (p *place) encode() (string, error) {
	text, err := json.Marshal(p)
	return string(text), err
}

// prepare reads the transaction of the first of some lines, if it is not read, and at the same time those that follow.
func (p *paymentPage) prepare(ctx context.Context, lines []find.Hit) error {
	if p.isKnown(lines[0]) {
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, h := range lines[:min(len(lines), concurrentTransactions)] {
		if !p.isKnown(h) {
			t := new(paymentTransaction)
			p.read[h.TransactionID] = t
			g.Go(func() error { return p.readTransaction(ctx, h.TransactionID, t) })
		}
	}
	return g.Wait()
}

// isKnown reports whether the transaction of a line need not be read: it was read, or nothing is stored of the line.
func (p *paymentPage) isKnown(h find.Hit) bool {
	return p.read[h.TransactionID] != nil || h.TransactionID == "" || h.IsRefused()
}

// readTransaction reads the first page of a transaction.
func (p *paymentPage) readTransaction(ctx context.Context, id string, t *paymentTransaction) error {
	versions, end, err := readPage(ctx, p.s.Store, p.s.Batches, p.now, p.tenant, id, position{})
	if err != nil {
		return err
	}
	for _, v := range versions {
		if find.PaymentOf(v) == p.id {
			t.versions = append(t.versions, v)
			if p.begin.includes(v) {
				return nil // an earlier page has it
			}
		}
	}
	t.reply, err = newReply(id, versions, end).EncodeJSON()
	return err
}

// add adds the transaction of a line, if the line is the version of a modification and the transaction is not on the
// page. It returns false if the reply cannot hold it.
func (p *paymentPage) add(h find.Hit) bool {
	t := p.read[h.TransactionID]
	if t == nil || t.reply == nil || !slices.ContainsFunc(t.versions, func(v transaction.Version) bool {
		return v.ReceivedAt.Equal(h.ReceivedAt) && v.Batch == string(h.Batch) && v.Modification == h.ModificationID
	}) {
		return true
	}
	if !p.budget.ReserveText(t.reply) && len(p.items) > 0 {
		return false
	}
	p.items, t.reply = append(p.items, t.reply), nil
	return true
}
