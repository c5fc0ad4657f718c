package receptorhttp

import (
	"strings"

	"sluice/shared/access/httpapi/platform"
	"sluice/shared/kit/fault"
	"sluice/shared/screening"
	"sluice/shared/screening/adapter"
)

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
