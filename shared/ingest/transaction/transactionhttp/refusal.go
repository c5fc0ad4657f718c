package transactionhttp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"sluice/shared/ingest/transaction"
	"sluice/shared/ingest/transaction/schema"
	"sluice/shared/kit/fault"
)

// modelName is the name by which a reason calls its object.
const modelName = "TransactionEventRequest"

func invalidBody(code transaction.Code, message string, path ...any) error {
	return fault.NewInvalid(fault.Detail{Source: fault.InBody, Path: path, Message: message, Code: string(code)})
}

func (s *Singles) errTooLong() error { return errTooLong(s.MaxBytes) }

func errTooLong(maxBytes int) error {
	return invalidBody(transaction.CodeLineTooLong,
		fmt.Sprintf("The body is too large; a transaction has at most %d bytes.",
			cmp.Or(maxBytes, transaction.MaxLineBytes)))
}

// unreadableError returns the error of a body that is not one JSON object, nil for any other.
func unreadableError(r *transaction.Result, maxBytes int) error {
	if len(r.Findings) == 0 {
		return nil
	}
	switch f := r.Findings[0]; f.Code {
	case transaction.CodeJSONInvalid:
		return invalidBody(f.Code, fmt.Sprintf("The body is not valid JSON; reading stopped at byte %d.", f.Offset))
	case transaction.CodeJSONDuplicateKey, transaction.CodeJSONTooDeep:
		var path []any
		for _, part := range pathOf(f.Pointer) {
			path = append(path, part)
		}
		return invalidBody(f.Code, f.Message, path...)
	case transaction.CodeLineTooLong:
		return errTooLong(maxBytes)
	case transaction.CodeObjectType:
		if f.Pointer == "" {
			return invalidBody(f.Code, "The body must be a JSON object.")
		}
	}
	return nil
}

// findings returns the findings of the scanner, and the errors of the entities to which the transaction refers.
func (s *Singles) findings(ctx context.Context, tenant string, r *transaction.Result) ([]transaction.Finding, error) {
	findings := slices.Clone(r.Findings)
	if len(r.References) == 0 {
		return findings, nil
	}
	ids := make([]string, len(r.References))
	for i, reference := range r.References {
		ids[i] = string(reference.ID)
	}
	onboarded, err := s.Entities.AreOnboarded(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	for i, reference := range r.References {
		f := transaction.Finding{Pointer: "/" + reference.Role.Name() + "/by_external_id", Offset: reference.Offset}
		switch isOnboarded, exists := onboarded[ids[i]]; {
		case !exists:
			f.Code, f.Message = transaction.CodeEntityNotFound, schema.MessageEntityNotFound
		case !isOnboarded:
			f.Code, f.Message = transaction.CodeEntityNotOnboarded, schema.MessageEntityNotOnboarded
		default:
			continue
		}
		findings = append(findings, f)
	}
	slices.SortStableFunc(findings, func(a, b transaction.Finding) int { return cmp.Compare(a.Offset, b.Offset) })
	return findings, nil
}

// reasonOf describes findings as the interface does: a line with their number, and for each of them a line with its
// path and an indented one with its message and code. If created_at is all that is wrong, the reason is one sentence
// with the given time and the allowed ones.
func reasonOf(findings []transaction.Finding, dropped int, text []byte, rules transaction.Rules) string {
	if len(findings) == 1 && dropped == 0 && findings[0].Code == transaction.CodeCreatedAtOutOfRange {
		return createdAtReason(text, rules)
	}
	var b strings.Builder
	n := len(findings) + dropped
	errors := "errors"
	if n == 1 {
		errors = "error"
	}
	fmt.Fprintf(&b, "%d validation %s for %s", n, errors, modelName)
	for _, f := range findings {
		fmt.Fprintf(&b, "\n%s\n  %s (type=%s)", strings.Join(pathOf(f.Pointer), " -> "), f.Message, f.Code)
	}
	if dropped == 1 {
		b.WriteString("\n1 more error is not listed.")
	} else if dropped > 1 {
		fmt.Fprintf(&b, "\n%d more errors are not listed.", dropped)
	}
	return b.String()
}

// createdAtReason says which created_at was given, and which ones are allowed.
func createdAtReason(text []byte, rules transaction.Rules) string {
	var given struct {
		Modification struct {
			CreatedAt string `json:"created_at"`
		} `json:"modification"`
	}
	_ = json.Unmarshal(text, &given) // the scanner has found it to be a date-time
	earliest := rules.ReceivedAt.Add(-rules.MaxPast).Format(time.RFC3339)
	latest := rules.ReceivedAt.Add(rules.MaxFuture).Format(time.RFC3339)
	allowed := ""
	switch {
	case rules.MaxPast == 0:
		allowed = "not after " + latest
	case rules.MaxFuture == 0:
		allowed = "not before " + earliest
	default:
		allowed = "from " + earliest + " to " + latest
	}
	return fmt.Sprintf("modification.created_at is %s; allowed is a time %s (type=%s).",
		given.Modification.CreatedAt, allowed, transaction.CodeCreatedAtOutOfRange)
}

// pathOf returns the parts of a JSON pointer. A part with control characters is quoted.
func pathOf(pointer string) []string {
	var parts []string
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		if strings.ContainsFunc(part, unicode.IsControl) {
			part = strconv.Quote(part)
		}
		parts = append(parts, part)
	}
	return parts
}
