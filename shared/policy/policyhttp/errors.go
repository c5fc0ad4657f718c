package policyhttp

import (
	"errors"
	"fmt"
	"strings"

	"sluice/shared/kit/fault"
	"sluice/shared/policy"
	"sluice/shared/policy/evaluate"
)

var (
	errNoPolicy  = fault.New(fault.NotFound, "policy_not_found", "There is no such policy.")
	errNoVersion = fault.New(fault.NotFound, "policy_version_not_found", "The policy has no such version.")
	errNoDraft   = fault.New(fault.NotFound, "policy_draft_not_found",
		"The workspace has no draft of this policy. Create one, or name the workspace of another one.")
	errNotPublished = fault.New(fault.NotFound, "policy_not_published",
		"No version of the policy is published. Name a version, or a workspace with a draft.")
	errNoField        = fault.New(fault.NotFound, "policy_field_not_found", "The policy has no such field.")
	errNoJurisdiction = fault.New(fault.NotFound, "policy_jurisdiction_not_found",
		"The policy has no such jurisdiction.")
	errNoGroup = fault.New(fault.NotFound, "data_group_not_found",
		"There is no such data group or version of it.")

	errBusy = fault.New(fault.Conflict, "policy_busy", "The object is being changed by others. Read it again.")
	// errReadBusy takes the place of errBusy for requests that change nothing.
	errReadBusy = fault.New(fault.Unavailable, "policy_busy",
		"The object is being changed by others all the time. Try again.")
	errDraftExists = fault.New(fault.Conflict, "policy_draft_exists",
		"The workspace has a draft of this policy already.")
	errIDTaken  = fault.New(fault.Conflict, "policy_id_taken", "There is an object with this ID already.")
	errNotDraft = fault.New(fault.Conflict, "policy_not_draft", "The version is not a draft.")
	errNotLast  = fault.New(fault.Conflict, "policy_not_last",
		"Only the version that was published last can be archived.")
	errWorkspaceLocked = fault.New(fault.Conflict, "policy_workspace_locked",
		"The workspace is locked. Unlock it first.")
	errTooMany = fault.Newf(fault.Conflict, "policy_too_many",
		"A limit is reached: a tenant has at most %d policies and %d data groups, a policy %d drafts, and a version "+
			"%d fields, the fields of its data groups included, and %d jurisdictions. Remove some first.",
		policy.MaxPolicies, policy.MaxDataGroups, policy.MaxDrafts, policy.MaxFields, policy.MaxJurisdictions)
	errPolicyTooLarge = fault.Newf(fault.TooLarge, "policy_too_large",
		"A field, a jurisdiction or a data group has at most %d bytes as JSON, and a version, or all changes of a "+
			"draft, %d.", policy.MaxFieldBytes, policy.MaxBundleBytes)
	errReplyTooLarge = fault.New(fault.TooLarge, "policy_reply_too_large",
		"The reply would be too large. Ask for fewer categories, or search the fields in pages.")
)

// faultOf returns the fault for an outcome of the store, and every other error as it is. missing is the fault for
// policy.ErrNotFound.
func faultOf(err error, missing error) error {
	var locked *policy.LockedError
	var wrongStatus *policy.StatusError
	var problems evaluate.Problems
	switch {
	case err == nil:
		return nil
	case errors.As(err, &locked):
		return fault.Newf(fault.Conflict, "policy_locked",
			"%s is locked: the draft of the workspace %s has changed it.", locked.ID, locked.WorkspaceID)
	case errors.As(err, &wrongStatus):
		return fault.New(fault.Conflict, "data_group_status", explainStatus(wrongStatus))
	case errors.As(err, &problems):
		return faultOfProblems(problems)
	}
	for _, known := range []struct{ err, fault error }{
		{policy.ErrNotFound, missing}, {policy.ErrNoDraft, errNoDraft}, {policy.ErrChanged, errBusy},
		{policy.ErrExists, errIDTaken}, {policy.ErrNotDraft, errNotDraft}, {policy.ErrNotLastPublished, errNotLast},
		{policy.ErrWorkspaceLocked, errWorkspaceLocked},
		{policy.ErrTooMany, errTooMany}, {policy.ErrTooLarge, errPolicyTooLarge},
	} {
		if errors.Is(err, known.err) {
			return known.fault
		}
	}
	return err
}

// explainStatus returns a message with the statuses that a version of a data group can get instead.
func explainStatus(e *policy.StatusError) string {
	if len(e.Allowed) == 0 {
		return fmt.Sprintf("A version that is %s keeps its status: it cannot become %s.", e.From, e.To)
	}
	allowed := make([]string, len(e.Allowed))
	for i, status := range e.Allowed {
		allowed[i] = string(status)
	}
	return fmt.Sprintf("A version that is %s can become %s, not %s.", e.From, strings.Join(allowed, " or "), e.To)
}

// faultOfProblems returns the fault for a version that cannot be compiled, with a validation error for each problem.
func faultOfProblems(problems evaluate.Problems) error {
	e := fault.New(fault.Invalid, "VALIDATION_ERROR",
		"The version cannot be evaluated, so it cannot be published. Correct what validationErrors names.")
	for _, p := range problems {
		e = e.WithDetails(fault.Detail{Source: fault.InBody, Path: pathOf(p), Message: messageOf(p), Code: CodeCompile})
	}
	return e
}

// pathOf returns where a problem is, as validation errors name it: fields.ID.conditions.0.operands.2.value.
func pathOf(p evaluate.Problem) []any {
	var path []any
	add := func(kind, id string) {
		if id != "" {
			path = append(path, kind, id)
		}
	}
	add("jurisdictions", p.JurisdictionID)
	add("dataGroups", p.DataGroupID)
	add("fields", p.FieldID)
	for step := range strings.FieldsFuncSeq(p.Path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		path = append(path, step)
	}
	return path
}

// messageOf returns the message of a problem, with the data key of its field, which people know.
func messageOf(p evaluate.Problem) string {
	if p.DataKey == "" {
		return p.Message
	}
	return fmt.Sprintf("Field %q: %s", p.DataKey, p.Message)
}
