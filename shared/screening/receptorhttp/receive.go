package receptorhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/entityid"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

// Receive records the answer of an adapter. It may be repeated: an answer that comes twice counts once. Answers that
// are late or about something unknown are recorded in the audit trail and otherwise ignored.
func (s *Receptor) Receive(ctx context.Context, r *platform.Request, in Message) (platform.NoData, error) {
	m := in.reply()
	m.ID, m.UploadID = strings.ToLower(m.ID), strings.ToLower(m.UploadID)
	audit.AddObject(ctx, "batchId", m.ID)
	audit.AddObject(ctx, "providerId", m.ProviderID)
	if err := authorize(r, m); err != nil {
		return platform.NoData{}, err
	}
	keys, err := s.keysOf(ctx, r.Tenant, m.ProviderID)
	if err != nil {
		return platform.NoData{}, err
	}
	if m.UploadID != "" {
		if m.Response, err = s.readUpload(ctx, r.Tenant, m.UploadID); err != nil {
			return platform.NoData{}, err
		}
	}
	answer, err := s.open(r, m, keys)
	if err != nil {
		s.Log.WarnContext(ctx, "a message of a screening adapter was refused", "tenant", r.Tenant, "batch", m.ID,
			"provider", m.ProviderID, "type", m.Type, "error", err)
		return platform.NoData{}, err
	}
	if m.UploadID != "" {
		if err := s.useUpload(ctx, r.Tenant, m, answer.id); err != nil {
			return platform.NoData{}, err
		}
	}
	outcome, err := s.handle(ctx, r.Tenant, m, answer)
	audit.AddObject(ctx, "answer", outcome)
	return platform.NoData{}, err
}

// keysOf returns the keys of a provider, nil if its messages are not authenticated. A provider that is not configured
// correctly has messages that nobody can authenticate.
func (s *Receptor) keysOf(ctx context.Context, tenant, providerID string) (*adapter.Keys, error) {
	p, err := s.Providers.GetProvider(ctx, tenant, providerID)
	if errors.Is(err, screening.ErrNotFound) {
		return nil, errNotAuthentic
	}
	if err != nil {
		return nil, err
	}
	if p, err = s.Providers.Reveal(ctx, p); err != nil {
		return nil, err
	}
	keys, err := adapter.KeysOf(p)
	if err != nil {
		return nil, errNotAuthentic.WithCause(fmt.Errorf("provider %s: %w", p.ID, err))
	}
	return keys, nil
}

// answer is the authenticated content of a message.
type answer struct {
	// id is the same for the same content, however it was encrypted.
	id string
	adapter.Answer
}

// open authenticates and reads the response of a message. It returns errNotAuthentic, or a refusal with the reason for
// a response that cannot be read, or is not one of the type and the status of the message: vector, type and status are
// not authenticated, so such a message may be a changed copy of a genuine one, which must still count when it comes.
func (s *Receptor) open(r *platform.Request, m adapter.Reply, keys *adapter.Keys) (answer, error) {
	var packed []byte
	var err error
	switch {
	case keys != nil:
		packed, err = keys.Open(adapter.Sealed{Data: m.Response, IV: r.Header(adapter.IVHeader),
			MAC: r.Header(adapter.MACHeader)})
		if err != nil {
			return answer{}, errNotAuthentic
		}
	case m.Response == "": // an error without a response
		return answer{id: digest(m, []byte(m.ErrorDetails)),
			Answer: adapter.Answer{BatchID: m.ID, ErrorDetails: &m.ErrorDetails}}, nil
	default:
		packed, err = adapter.Decode(m.Response)
	}
	var text []byte
	if err == nil {
		text, err = adapter.Unpack(packed)
	}
	a := answer{id: digest(m, text)}
	if err == nil {
		a.Answer, err = adapter.ParseAnswer(text, m.Type, m.Status)
	}
	var invalid *adapter.InvalidError
	if a.BatchID != "" && !strings.EqualFold(a.BatchID, m.ID) {
		// The response itself is authentic, but this message is not: it is that to another batch. That is so, too, if
		// the response is not valid for a type or a status that somebody else has given the message.
		return answer{}, errNotAuthentic
	}
	if errors.As(err, &invalid) {
		return answer{}, fault.Newf(fault.Forbidden, "response_not_valid",
			"%s Nothing was recorded; a valid answer still counts.", invalid.Message)
	}
	return a, err
}

// digest identifies the content of a message.
func digest(m adapter.Reply, text []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q ", m.ID, m.ProviderID, m.Type, m.Status)
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// handle records an answer, and returns the outcome.
func (s *Receptor) handle(ctx context.Context, tenant string, m adapter.Reply, a answer) (string, error) {
	if m.Type != adapter.Screen {
		// Nothing waits for these: only their arrival is recorded.
		if m.Status == adapter.Error {
			s.Log.WarnContext(ctx, "a screening adapter reports an error", "tenant", tenant, "batch", m.ID, "provider",
				m.ProviderID, "type", m.Type)
		}
		return "noted", nil
	}
	var matches []screening.Match
	var failure *screening.ProviderError
	if m.Status == adapter.Error {
		failure = adapter.FailedSearch(*a.ErrorDetails)
	} else {
		var err error
		if matches, failure, err = s.check(ctx, tenant, m, a.Answer); err != nil {
			return "", err
		}
	}
	return s.Answers.Record(ctx, tenant, m.ID, m.ProviderID, a.id, matches, failure)
}

// check checks the matches of an answer against their batch. Those to a batch that is not there need no check.
func (s *Receptor) check(ctx context.Context, tenant string, m adapter.Reply, a adapter.Answer) ([]screening.Match,
	*screening.ProviderError, error) {
	b, err := s.Batches.Get(ctx, tenant, m.ID)
	if errors.Is(err, screening.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var ids []string
	asked := map[string]bool{}
	for _, match := range a.Matches {
		if id := entityid.Normalize(match.EntityID); !asked[id] && b.HasEntity(id) {
			asked[id] = true
			ids = append(ids, id)
		}
	}
	entities, err := s.Batches.GetEntities(ctx, tenant, b.ID, ids)
	if err != nil {
		return nil, nil, err
	}
	of := adapter.Batch{ID: b.ID, ProviderID: m.ProviderID, Aliases: map[string][]string{}}
	for _, e := range entities {
		of.Aliases[e.ID] = []string{}
		for _, alias := range e.Aliases {
			of.Aliases[e.ID] = append(of.Aliases[e.ID], alias.ID)
		}
	}
	matches, err := a.Check(of)
	var invalid *adapter.InvalidError
	if errors.As(err, &invalid) {
		return nil, adapter.InvalidResponse(invalid.Message), nil
	}
	return matches, nil, err
}

// readUpload returns the text of an uploaded response.
func (s *Receptor) readUpload(ctx context.Context, tenant, id string) (string, error) {
	u, err := s.Uploads.GetUpload(ctx, tenant, id)
	if errors.Is(err, adapter.ErrNoUpload) || err == nil && !s.Now().Before(u.Expires) {
		return "", errNoUpload
	}
	if err != nil {
		return "", err
	}
	file, err := s.Files.Open(ctx, adapter.UploadKey(tenant, id), "", 0, -1)
	if objects.IsGone(err) {
		return "", errNotUploaded
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, adapter.MaxUploadBytes+1))
	if len(text) > adapter.MaxUploadBytes {
		return "", errors.Join(errUploadTooLarge, s.Files.Empty(ctx, adapter.UploadKey(tenant, id)))
	}
	return string(text), err
}

// useUpload lets one message use an upload, again and again.
func (s *Receptor) useUpload(ctx context.Context, tenant string, m adapter.Reply, message string) error {
	err := s.Uploads.UseUpload(ctx, tenant, m.UploadID, message)
	switch {
	case errors.Is(err, adapter.ErrNoUpload):
		return errNoUpload
	case errors.Is(err, adapter.ErrUploadUsed):
		return errUploadUsed
	}
	return err
}

// Message is the body of an adapter's message: an adapter.Reply or, as elsewhere on the platform, {"data": the reply}.
type Message struct {
	adapter.Reply
	Data *adapter.Reply `json:"data"`
}

// Check validates the message.
func (in *Message) Check(v *platform.ValidationErrors) {
	m := in.reply()
	if in.Data != nil && in.Reply != (adapter.Reply{}) {
		v.Add("data", "The message is either the body or in data, not both.", platform.CodeRequired)
		return
	}
	v.RequireID("id", m.ID)
	v.RequireUUID("tenant", m.Tenant)
	v.RequireText("providerId", m.ProviderID, screening.MaxProviderID)
	v.RequireOneOf("type", string(m.Type), string(adapter.Screen), string(adapter.ResolveMatches), string(adapter.Test),
		string(adapter.OngoingScreening), string(adapter.OngoingScreeningUpdate),
		string(adapter.OngoingScreeningGetResults))
	v.RequireOneOf("status", m.Status, adapter.Success, adapter.Error)
	v.CheckText("errorDetails", m.ErrorDetails, adapter.MaxErrorDetails)
	if m.UploadID != "" {
		v.RequireUUID("uploadId", m.UploadID)
	}
	if m.UploadID != "" && m.Response != "" {
		v.Add("uploadId", "The response is either in response or uploaded, not both.", platform.CodeRequired)
	}
}

// reply returns the message itself.
func (in *Message) reply() adapter.Reply {
	if in.Data != nil {
		return *in.Data
	}
	return in.Reply
}

// authorize checks that the message is about the caller's tenant and something that the service does.
func authorize(r *platform.Request, m adapter.Reply) error {
	if !strings.EqualFold(m.Tenant, r.Tenant) {
		return errOtherTenant
	}
	switch m.Type {
	case adapter.OngoingScreening, adapter.OngoingScreeningUpdate, adapter.OngoingScreeningGetResults:
		return errOngoing
	}
	if m.Response == "" && m.UploadID == "" && m.Status == adapter.Success {
		return fault.New(fault.BadRequest, "response_missing", "The message has neither response nor uploadId.")
	}
	return nil
}
