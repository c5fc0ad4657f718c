package batchhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"sluice/openapi/wire"
	"sluice/shared/access/httpapi"
	"sluice/shared/ingest/batch"
	"sluice/shared/kit/fault"
	"sluice/shared/kit/objects"
)

// maxScreenedLists is the largest number of lists that a request may name.
const maxScreenedLists = 50

// watchlists are the lists that tenants see.
type watchlists interface {
	// Names returns the names of the tenant's lists: of those that are named, or of all. It returns a
	// *batch.UnknownListError for a name that the tenant does not see, and batch.ErrNoLists if it sees none.
	Names(ctx context.Context, tenant string, lists []string) ([]string, error)
}

// ScreenUnknown asks for the names of the batch's unknown entities to be screened.
type ScreenUnknown struct {
	// Lists are the names of the lists; all that are active if it is absent.
	Lists *[]string `json:"lists"`
	// Threshold is batch.DefaultThreshold if it is absent.
	Threshold *float64 `json:"threshold"`
	// OnHit is onHitReport if it is absent.
	OnHit *string `json:"on_hit"`
	// Others are the keys that are not known.
	Others map[string]jsontext.Value `json:",embed"`
}

// Values of ScreenUnknown.OnHit.
const (
	onHitReport = "report"
	onHitReject = "reject"
)

// screening returns how the names of a batch are screened; nil if that is not asked for.
func (s *Batches) screening(ctx context.Context, tenant string, in *ScreenUnknown) (*batch.Screening, error) {
	if in == nil {
		return nil, nil
	}
	if details := in.check(); len(details) > 0 {
		return nil, fault.NewInvalid(details...)
	}
	out := &batch.Screening{Threshold: batch.DefaultThreshold, Reject: in.OnHit != nil && *in.OnHit == onHitReject}
	if in.Threshold != nil {
		out.Threshold = *in.Threshold
	}
	var lists []string
	if in.Lists != nil {
		lists = *in.Lists
	}
	var err error
	out.Lists, err = s.Lists.Names(ctx, tenant, lists)
	var unknown *batch.UnknownListError
	switch {
	case errors.As(err, &unknown):
		return nil, fault.NewInvalid(screenDetail(unknown.Error(), "unknown_list", unknown.List, "lists"))
	case errors.Is(err, batch.ErrNoLists):
		return nil, fault.NewInvalid(screenDetail("There is no list to screen names with; have one imported first.",
			"unknown_list", nil, "lists"))
	case err != nil:
		return nil, fmt.Errorf("read the watchlists: %w", err)
	}
	return out, nil
}

// check returns the errors of the values.
func (in *ScreenUnknown) check() []fault.Detail {
	var details []fault.Detail
	switch {
	case in.Lists == nil:
	case len(*in.Lists) == 0:
		details = append(details, screenDetail("Name a list, or leave lists out.", "array_too_short", nil, "lists"))
	case len(*in.Lists) > maxScreenedLists:
		details = append(details, screenDetail(fmt.Sprintf("Name at most %d lists.", maxScreenedLists),
			"array_too_long", nil, "lists"))
	}
	if t := in.Threshold; t != nil && !(*t >= 0 && *t <= 100) {
		details = append(details, screenDetail("The value must be 0 to 100.", "number_range", *t, "threshold"))
	}
	if in.OnHit != nil && *in.OnHit != onHitReport && *in.OnHit != onHitReject {
		details = append(details, screenDetail("The value must be report or reject.", "enum",
			httpapi.AttemptedText(*in.OnHit), "on_hit"))
	}
	return details
}

func screenDetail(message, code string, attempted any, key string) fault.Detail {
	return fault.Detail{Source: fault.InBody, Path: []any{"screen_unknown", key}, Message: message, Code: code,
		AttemptedValue: attempted}
}

var errNotScreened = fault.New(fault.NotFound, "batch_not_screened", "The names of this batch are not screened.")

// ScreeningResult reports the result of the screening of names: 200, or 202 while it has not finished. A batch whose
// names are not screened has no such result.
func (s *Batches) ScreeningResult(ctx context.Context, caller httpapi.Caller, r *http.Request) (httpapi.Reply, error) {
	b, err := s.find(ctx, caller, r)
	if err != nil {
		return httpapi.Reply{}, err
	}
	if b.Screening == nil {
		return httpapi.Reply{}, errNotScreened
	}
	out := wire.ScreeningResult{Lists: []wire.ScreenedList{}, Name: shownName(b), Metadata: b.Metadata}
	for _, v := range b.Screening.Versions {
		list := wire.ScreenedList{List: v.List, Version: v.Version}
		if !v.SourceDate.IsZero() {
			list.SourceDate = &v.SourceDate
		}
		out.Lists = append(out.Lists, list)
	}
	switch {
	case b.Verdict != nil && b.Verdict.Screening != nil:
		err := s.describeScreening(ctx, b, &out)
		return httpapi.Reply{Body: out}, err
	case b.Verdict != nil || b.Status == batch.Failed:
		out.Message = b.ErrorMessage
		return httpapi.Reply{Body: out}, nil
	}
	out.Message = "Batch not yet validated."
	if b.Status == batch.AwaitingUpload {
		out.Message = "Batch not yet uploaded completely."
	}
	return accepted(out), nil
}

// describeScreening describes the result of the screening, with the URL of the alerts if there are any.
func (s *Batches) describeScreening(ctx context.Context, b batch.Batch, out *wire.ScreeningResult) error {
	v := b.Verdict.Screening
	out.NamesScreened, out.Hits = &v.Names, &v.Hits
	switch {
	case v.Hits == 0:
		out.Message = "Batch screened without hits."
		return nil
	case s.ReportDays > 0 && s.Now().After(b.UpdatedAt.AddDate(0, 0, s.ReportDays)):
		out.Message = fmt.Sprintf("Batch screened with hits. The file of them was kept for %s and has been deleted.",
			days(s.ReportDays))
		return nil
	}
	file := objects.Download{FileName: "batch-" + string(b.ID) + "-alerts.jsonl", MediaType: "application/x-ndjson"}
	signed, err := s.Reports.SignGet(ctx, v.AlertsKey, file, s.DownloadLifetime)
	if err != nil {
		return err
	}
	complete := !v.AlertsShortened
	out.Message = "Batch screened with hits."
	out.AlertsFileURL, out.AlertsFileURLExpiresAt = signed.URL, signed.Expires
	out.AlertsComplete = &complete
	return nil
}
