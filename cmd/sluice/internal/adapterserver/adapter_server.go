package adapterserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"sluice/client"
	"sluice/cmd/sluice/internal/terminal"
	"sluice/internal/linefile"
	"sluice/openapi/wire"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
	"sluice/shared/screening/match"
	"sluice/shared/screening/watchlist"
)

// adapterServer is the adapter of one provider: an http.Handler for the messages of the service, which answers them by
// calls of the receptor.
type adapterServer struct {
	client   *client.Client
	provider string
	// keys are nil if messages are not authenticated.
	keys *adapter.Keys
	// answers are the matches of names in lower case; screener, which only one goroutine uses at a time, may be nil.
	answers   map[string][]adapter.AnswerMatch
	screener  *match.Screener
	threshold float64
	faults    []string
	delay     time.Duration
	ui        *terminal.Terminal
	// ctx ends when the program does; pending are the answers under way.
	ctx     context.Context
	pending sync.WaitGroup
	// mu guards screener and ui.
	mu sync.Mutex
}

func (s *adapterServer) has(fault string) bool { return slices.Contains(s.faults, fault) }

// ServeHTTP accepts a message and answers it later, as an adapter must: the service does not wait. Of a message that
// cannot be read, it says 400.
func (s *adapterServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m, text, err := s.read(w, r)
	switch {
	case err != nil:
		s.printf("REFUSED: %v\n", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
	case s.has("reject"):
		s.printf("%s of batch %s: rejected\n", m.Type, linefile.Printable(m.ID))
		w.WriteHeader(http.StatusBadRequest)
	case s.has("fail"):
		s.printf("%s of batch %s: failed\n", m.Type, linefile.Printable(m.ID))
		w.WriteHeader(http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusAccepted)
		s.pending.Go(func() { s.handle(m, text) })
	}
}

// read authenticates a message and returns it with the JSON text of its data.
func (s *adapterServer) read(w http.ResponseWriter, r *http.Request) (adapter.Message, []byte, error) {
	var m adapter.Message
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, adapter.MaxRequestBytes))
	if err != nil {
		return m, nil, err
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, nil, errors.New("the body is not a message")
	}
	is := map[adapter.Type]string{adapter.Screen: adapter.ScreenPath, adapter.Test: adapter.ScreenPath,
		adapter.ResolveMatches: adapter.ResolveMatchesPath}
	switch {
	case is[m.Type] == "" || !strings.HasSuffix(r.URL.Path, is[m.Type]):
		return m, nil, fmt.Errorf("the type %q does not belong to this path", m.Type)
	case !strings.EqualFold(m.Tenant, s.client.Tenant()) || r.Header.Get(adapter.TenantHeader) != m.Tenant:
		return m, nil, errors.New("the message is that of another tenant")
	case m.ProviderID != s.provider || r.Header.Get(adapter.ProviderHeader) != m.ProviderID:
		return m, nil, errors.New("the message is for another provider")
	}
	var packed []byte
	if s.keys != nil {
		packed, err = s.keys.Open(adapter.Sealed{Data: m.Data, IV: r.Header.Get(adapter.IVHeader),
			MAC: r.Header.Get(adapter.MACHeader)})
	} else {
		packed, err = adapter.Decode(m.Data)
	}
	if err != nil {
		return m, nil, err
	}
	text, err := adapter.Unpack(packed)
	return m, text, err
}

// handle does what a message asks for, and answers it. The service may send a message again: the answer is then the
// same, and counts once.
func (s *adapterServer) handle(m adapter.Message, text []byte) {
	answer, err := s.answer(m, text)
	if err != nil {
		answer = adapter.Answer{BatchID: m.ID, ErrorDetails: new(string)}
		*answer.ErrorDetails = "The adapter could not search: " + err.Error()
	}
	result := terminal.CountNoun(int64(len(answer.Matches)), "match", "matches")
	if answer.ErrorDetails != nil {
		result = *answer.ErrorDetails
	}
	if s.has("silent") {
		s.printf("%s of batch %s: %s, not answered\n", m.Type, m.ID, result)
		return
	}
	select {
	case <-time.After(s.delay):
	case <-s.ctx.Done():
		return
	}
	times := 1
	if s.has("twice") {
		times = 2
	}
	for range times {
		if err := s.deliver(m, answer); err != nil {
			s.printf("%s of batch %s: %s, NOT DELIVERED: %v\n", m.Type, m.ID, result, err)
			return
		}
	}
	s.printf("%s of batch %s: %s\n", m.Type, m.ID, result)
}

// answer returns what to answer to a message.
func (s *adapterServer) answer(m adapter.Message, text []byte) (adapter.Answer, error) {
	a := adapter.Answer{BatchID: m.ID}
	if s.has("error") {
		return a, errors.New("told to")
	}
	switch m.Type {
	case adapter.Test:
		return a, nil
	case adapter.ResolveMatches:
		var data adapter.ResolveData
		if err := json.Unmarshal(text, &data); err != nil {
			return a, err
		}
		for _, r := range data.Matches {
			s.printf("match %s of batch %s: %s, %s\n", r.MatchID, m.ID, r.Status, linefile.Printable(r.Reason))
		}
		return a, nil
	}
	var data adapter.ScreenData
	if err := json.Unmarshal(text, &data); err != nil {
		return a, err
	}
	a.Matches = []adapter.AnswerMatch{}
	for _, e := range data.Entities {
		found, err := s.search(e)
		if err != nil {
			return a, err
		}
		a.Matches = append(a.Matches, found...)
	}
	if s.has("invalid") {
		a.Matches = append(a.Matches, adapter.AnswerMatch{EntityID: "nobody", EntityUniqueID: "invalid:1"})
	}
	return a, nil
}

// search returns the matches of an entity, each entry once with all the names that it resembles.
func (s *adapterServer) search(e adapter.ScreenEntity) ([]adapter.AnswerMatch, error) {
	var matches []adapter.AnswerMatch
	add := func(m adapter.AnswerMatch, alias string) {
		same := func(o adapter.AnswerMatch) bool { return o.EntityUniqueID == m.EntityUniqueID }
		i := slices.IndexFunc(matches, same)
		if i < 0 {
			i = len(matches)
			m.EntityID, m.EntityAliasIDs = e.EntityID, nil
			matches = append(matches, m)
		}
		matches[i].EntityAliasIDs = append(matches[i].EntityAliasIDs, alias)
	}
	names := map[string]string{screening.PrimaryName: e.SearchCriteria.Name()}
	ids := []string{screening.PrimaryName}
	for _, alias := range e.EntityAliases {
		names[alias.ID] = alias.Name()
		ids = append(ids, alias.ID)
	}
	for _, id := range ids {
		for _, m := range s.answers[strings.ToLower(names[id])] {
			m.MatchData.ProviderID = s.provider
			add(m, id)
		}
		hits, err := s.lookUp(names[id], e.SearchCriteria.Type)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			add(s.matchOf(h), id)
		}
	}
	return matches, nil
}

// lookUp searches the lists for a name.
func (s *adapterServer) lookUp(name, kind string) ([]match.Hit, error) {
	if s.screener == nil || strings.TrimSpace(name) == "" {
		return nil, nil
	}
	q := match.Query{Name: name, Schema: watchlist.Person}
	if kind == screening.Company {
		q.Schema = watchlist.Organisation
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screener.Screen(q, s.threshold)
}

func (s *adapterServer) matchOf(h match.Hit) adapter.AnswerMatch {
	return adapter.AnswerMatch{EntityUniqueID: h.List + ":" + h.ID, MatchData: screening.MatchData{
		ProviderID: s.provider, ProviderSourceName: h.List, Name: h.Name, Score: &h.Score,
		Categories:     []string{"Sanctions"},
		AdditionalInfo: []screening.InfoField{{Label: "Explanation", Value: h.Explanation}}}}
}

// deliver seals an answer and sends it to the receptor, by way of an upload if it is too large for a message.
func (s *adapterServer) deliver(m adapter.Message, answer adapter.Answer) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	var sealed adapter.Sealed
	if s.keys != nil {
		sealed, err = s.keys.Seal(text, true)
	} else {
		sealed.Data, err = adapter.Encode(text, true)
	}
	if err != nil {
		return err
	}
	if s.has("wrong-mac") {
		sealed.MAC = sealed.IV
	}
	reply := client.ScreeningAnswer{IV: sealed.IV, MAC: sealed.MAC, ScreeningAnswer: wire.ScreeningAnswer{
		ID: m.ID, Tenant: m.Tenant, ProviderID: m.ProviderID, Type: string(m.Type), Status: adapter.Success,
		Response: sealed.Data,
	}}
	if answer.ErrorDetails != nil {
		reply.Status = adapter.Error
	}
	const envelope = 4 << 10 // more than the other members have
	if s.has("upload") || len(sealed.Data) > adapter.MaxBodyBytes-envelope {
		if reply.UploadID, err = s.client.UploadScreeningResponse(s.ctx, sealed.Data); err != nil {
			return err
		}
		reply.Response = ""
	}
	return s.client.AnswerScreening(s.ctx, reply)
}

func (s *adapterServer) printf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ui.Printf("%s  "+format, append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// readAnswers reads a file of answers, by names in lower case.
func readAnswers(path string) (map[string][]adapter.AnswerMatch, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []struct {
		Name string `json:"name"`
		adapter.AnswerMatch
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s is not a JSON list of answers: %w", path, err)
	}
	answers := map[string][]adapter.AnswerMatch{}
	for i, a := range list {
		if a.Name == "" || a.EntityUniqueID == "" || a.MatchData.ProviderSourceName == "" {
			return nil, fmt.Errorf("%s: answer %d lacks name, entityUniqueId or matchData/providerSourceName", path,
				i+1)
		}
		name := strings.ToLower(a.Name)
		answers[name] = append(answers[name], a.AnswerMatch)
	}
	return answers, nil
}
