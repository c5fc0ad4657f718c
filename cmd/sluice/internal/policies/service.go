package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/client"
	"sluice/openapi/wire"
	"sluice/shared/policy"
)

// policyService reads policies from the service.
type policyService struct{ *client.Client }

// policyRef names a version of a policy on the command line: the ID of the policy or its type of entities and, after @,
// the number of the version.
type policyRef struct {
	policy string
	// number is 0 for the version that is published.
	number int64
}

// uuidText is the form of an ID.
var uuidText = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// parsePolicyRef reads a reference. It returns false for anything else, such as the name of a file.
func parsePolicyRef(text string) (policyRef, bool) {
	name, number, hasNumber := strings.Cut(text, "@")
	if !uuidText.MatchString(name) && !slices.Contains(policy.EntityTypes, name) {
		return policyRef{}, false
	}
	ref := policyRef{policy: name}
	if hasNumber {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 {
			return policyRef{}, false
		}
		ref.number = n
	}
	return ref, true
}

// findPolicies returns the policies that an ID or a type of entities names.
func (s policyService) findPolicies(ctx context.Context, name string) ([]client.Policy, error) {
	if uuidText.MatchString(name) {
		p, err := s.Policy(ctx, name)
		return []client.Policy{p}, err
	}
	if !slices.Contains(policy.EntityTypes, name) {
		return nil, fmt.Errorf("%q is neither the ID of a policy nor a type of entities: %s", name,
			strings.Join(policy.EntityTypes, ", "))
	}
	all, err := s.Policies(ctx)
	return slices.DeleteFunc(all, func(p client.Policy) bool { return p.EntityType != name }), err
}

// findPolicy returns the one policy that an ID or a type of entities names.
func (s policyService) findPolicy(ctx context.Context, name string) (client.Policy, error) {
	found, err := s.findPolicies(ctx, name)
	switch {
	case err != nil:
		return client.Policy{}, err
	case len(found) == 0:
		return client.Policy{}, fmt.Errorf("there is no policy for the type %s", name)
	case len(found) > 1:
		return client.Policy{}, ambiguousPolicy(name, found)
	}
	return found[0], nil
}

func ambiguousPolicy(name string, found []client.Policy) error {
	const most = 5 // a tenant can have hundreds
	var ids []string
	for _, p := range found[:min(len(found), most)] {
		ids = append(ids, p.EntityPolicyID)
	}
	more := ""
	if len(found) > most {
		more = " and others; 'sluice policy list' has all"
	}
	return fmt.Errorf("there are %d policies for the type %s: name one by its ID, %s%s", len(found), name,
		strings.Join(ids, ", "), more)
}

// resolve returns the policy and the version that a reference names.
func (s policyService) resolve(ctx context.Context, ref policyRef) (client.Policy, int64, error) {
	p, err := s.findPolicy(ctx, ref.policy)
	if err != nil {
		return p, 0, err
	}
	if ref.number == 0 {
		if ref.number = wire.OrZero(p.PublishedVersionNumber); ref.number == 0 {
			return p, 0, fmt.Errorf("no version of the policy %s is published: name one, such as %[1]s@%[2]d",
				p.EntityPolicyID, max(wire.OrZero(p.VersionNumber), 1))
		}
	}
	return p, ref.number, nil
}

// remoteVersion is a version as the service has it.
type remoteVersion struct {
	// contents do not have what the draft deletes.
	contents policy.Contents
	// deleted is what the draft deletes.
	deleted policy.Contents
	// lockedBy is the workspace that locks a field or a jurisdiction, by its ID.
	lockedBy map[string]string
}

// published stands for the number of the version that is published, with the locks of all workspaces.
const published = 0

// readVersion reads a version, without its data groups.
func (s policyService) readVersion(ctx context.Context, p client.Policy, number int64) (*remoteVersion, error) {
	v := &remoteVersion{lockedBy: map[string]string{}, contents: policy.Contents{EntityType: p.EntityType}}
	fields, err := s.PolicyFields(ctx, p.EntityPolicyID, number)
	if err != nil {
		return nil, err
	}
	jurisdictions, err := s.PolicyJurisdictions(ctx, p.EntityPolicyID, number)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		c := v.note(f.FieldID, f.ChangeType, f.LockDetails)
		if c.Fields, err = appendDecoded(c.Fields, f.Reply); err != nil {
			return nil, err
		}
	}
	for _, j := range jurisdictions {
		c := v.note(j.JurisdictionID, j.ChangeType, j.LockDetails)
		if c.Jurisdictions, err = appendDecoded(c.Jurisdictions, j.Reply); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// note notes the lock of a field or jurisdiction and returns the contents to which it belongs.
func (v *remoteVersion) note(id, changeType string, lock *client.PolicyLock) *policy.Contents {
	if lock != nil {
		v.lockedBy[id] = lock.LockedByWorkspaceID
	}
	if changeType == string(policy.Deleted) {
		return &v.deleted
	}
	return &v.contents
}

// readContents reads a version with its data groups.
func (s policyService) readContents(ctx context.Context, ref policyRef) (policy.Contents, error) {
	p, number, err := s.resolve(ctx, ref)
	if err != nil {
		return policy.Contents{}, err
	}
	v, err := s.readVersion(ctx, p, number)
	if err != nil {
		return policy.Contents{}, err
	}
	groups, err := s.PolicyDataGroups(ctx, p.EntityPolicyID, number)
	if err != nil {
		return policy.Contents{}, err
	}
	for _, g := range groups {
		if g, err = s.DataGroup(ctx, g.DataGroupID, g.VersionNumber); err != nil {
			return policy.Contents{}, err
		}
		if v.contents.DataGroups, err = appendDecoded(v.contents.DataGroups, g.Reply); err != nil {
			return policy.Contents{}, err
		}
	}
	return v.contents, nil
}

// appendDecoded appends what a reply has to a list.
func appendDecoded[T any](list []T, reply json.RawMessage) ([]T, error) {
	var item T
	err := json.Unmarshal(reply, &item)
	return append(list, item), err
}
