package documenthttp

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"sluice/openapi/wire"
	"sluice/shared/access/audit"
	"sluice/shared/access/httpapi/platform"
	"sluice/shared/access/ratelimit"
	"sluice/shared/kit/fault"
	"sluice/shared/platform/document"
	"sluice/shared/platform/property"
)

// create stores a document whose file is still to be uploaded, and signs the URL for it.
func (c typedCommands) create(ctx context.Context, r *platform.Request,
	in CreateFileRequest) (platform.WithWarnings[wire.DocumentUpload], error) {
	d := c.newDocument(r, in.CreateRequest)
	err := r.RequireReach("accessLayers", d.Layers)
	if err == nil {
		d.FileLimit, err = c.reserve(ctx, r, in.Announced)
	}
	if err != nil {
		return platform.WithWarnings[wire.DocumentUpload]{}, err
	}
	d.FileID = c.NewID()
	audit.AddObject(ctx, "documentId", d.ID)
	signed, err := c.Files.SignPutOf(ctx, d.FileKey(), in.Size(), c.UploadLifetime)
	if err == nil {
		err = faultOf(c.Store.Create(ctx, d, false))
	}
	if err != nil {
		return platform.WithWarnings[wire.DocumentUpload]{}, err
	}
	return platform.WithWarnings[wire.DocumentUpload]{
		Data: uploadReplyOf(d, signed), Messages: append(warningsAbout(d), droppedProperties(in.Properties)...),
	}, nil
}

// reserve returns how many bytes a new file may have, if the tenant may have another one.
func (s *Documents) reserve(ctx context.Context, r *platform.Request, in platform.Announced) (int64, error) {
	if err := r.Validate(func(v *platform.ValidationErrors) { in.CheckSize(v, s.MaxBytes) }); err != nil {
		return 0, err
	}
	limit := cmp.Or(in.Size(), s.MaxBytes)
	return limit, document.CheckOpen(ctx, s.Store, r.Tenant, ratelimit.ParseSettings(
		r.Attributes[ratelimit.Attribute]), limit, s.Now())
}

// createVirtual stores a document that has a URL and no file.
func (c typedCommands) createVirtual(ctx context.Context, r *platform.Request,
	in CreateVirtualRequest) (platform.WithWarnings[wire.CreatedDocument], error) {
	d := c.newDocument(r, in.CreateRequest)
	if err := r.RequireReach("accessLayers", d.Layers); err != nil {
		return platform.WithWarnings[wire.CreatedDocument]{}, err
	}
	d.Virtual, d.URL, d.State.Status = true, in.DocumentURL, document.Completed
	audit.AddObject(ctx, "documentId", d.ID)
	if err := c.Store.Create(ctx, d, false); err != nil {
		return platform.WithWarnings[wire.CreatedDocument]{}, faultOf(err)
	}
	return platform.WithWarnings[wire.CreatedDocument]{
		Data: createVirtualReplyOf(d), Messages: append(warningsAbout(d), droppedProperties(in.Properties)...),
	}, nil
}

// newDocument returns a new document, without file and URL.
func (c typedCommands) newDocument(r *platform.Request, in CreateRequest) document.Document {
	t, ok := document.ParseEntityType(textOf(in.RequestType))
	if !ok {
		t = c.entityType
	}
	now, scope := c.Now(), document.NewScope(in.EntityID, in.JourneyID)
	d := document.Document{
		ID: c.NewID(), Tenant: r.Tenant, EntityType: t, EntityID: scope.EntityID, JourneyID: scope.JourneyID,
		FileName: in.FileName, Type: in.DocumentType, FriendlyName: in.FriendlyName, DataKey: in.DocumentDataKey,
		RequirementIDs:     withoutRepetitions(in.DocumentRequirementIDs),
		RequirementModelID: textOf(in.RequirementModelID),
		Properties:         in.Properties.Normalized().Apply(nil), Metadata: in.Metadata,
		State:        document.State{Status: document.Processing},
		PolicyLayers: in.PolicyEnforcedAccessLayers, Flags: in.Flags, UploadedBy: r.Client, UploadedByName: r.Client,
		CreatedAt: now, UpdatedBy: r.Client, UpdatedAt: now, Version: 1,
	}
	d.SetLayers(in.AccessLayers)
	return d
}

// warningsAbout returns warnings about effects that the client may not expect.
func warningsAbout(d document.Document) []platform.Message {
	var warnings []platform.Message
	if d.FileID != "" && !document.IsSupported(d.FileName) {
		warnings = append(warnings, platform.Warning(document.InvalidMIMEType, "Files with the extension "+
			document.Extension(d.FileName)+" are not supported: the document has the status Error. Give it "+
			"another file by updateFile."))
	}
	if d.Flags.AutomaticClassification {
		warnings = append(warnings, platform.Warning("not_classified",
			"Documents are not classified here: this one keeps the type that it is given."))
	}
	return warnings
}

// droppedProperties returns a warning for each property of a new document that has no value.
func droppedProperties(properties property.Changes) []platform.Message {
	var warnings []platform.Message
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		if p := properties[key]; p == nil || p.IsEmpty() {
			warnings = append(warnings,
				platform.Warning("property_dropped", "properties."+key+" was dropped: it has no value."))
		}
	}
	return warnings
}

// withoutRepetitions returns the values without repetitions, in the order of their first mention.
func withoutRepetitions(values []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(values), func(v string) bool {
		isRepetition := seen[v]
		seen[v] = true
		return isRepetition
	})
}

// maxAttempts is how often a command is tried that meets a change of another document with the same file.
const maxAttempts = 3

// clone stores a document that shares the file of its source. It tries again if the file was deleted meanwhile: the
// source may have another one by now.
func (c typedCommands) clone(ctx context.Context, r *platform.Request, in CloneRequest) (wire.ClonedDocument, error) {
	id := strings.ToLower(textOf(in.ID))
	if id == "" {
		id = c.NewID()
	}
	audit.AddObject(ctx, "documentId", id)
	for attempt := 1; ; attempt++ {
		source, err := c.find(ctx, r)
		if err != nil {
			return wire.ClonedDocument{}, err
		}
		d := c.cloneOf(source, r, id, in)
		if err := r.RequireReach("AccessLayers", d.Layers); err != nil {
			return wire.ClonedDocument{}, err
		}
		if err = c.Store.Create(ctx, d, true); err == nil {
			return cloneReplyOf(d), nil
		}
		if !errors.Is(err, document.ErrNotFound) || attempt == maxAttempts {
			return wire.ClonedDocument{}, faultOf(err)
		}
	}
}

func (c typedCommands) cloneOf(source document.Document, r *platform.Request, id string,
	in CloneRequest) document.Document {
	d := source.Clone(id, r.Client, c.Now())
	setIfPresent(&d.DataKey, in.DocumentDataKey)
	setIfPresent(&d.EntityID, in.EntityID)
	setIfPresent(&d.JourneyID, in.JourneyID)
	scope := document.NewScope(d.EntityID, d.JourneyID)
	d.EntityID, d.JourneyID = scope.EntityID, scope.JourneyID
	setIfPresent(&d.RequirementModelID, in.RequirementModelID)
	if in.DocumentRequirementIDs != nil {
		d.RequirementIDs = withoutRepetitions(in.DocumentRequirementIDs)
	}
	if in.AccessLayers != nil {
		d.SetLayers(*in.AccessLayers)
	}
	return d
}

func setIfPresent(field, value *string) {
	if value != nil {
		*field = *value
	}
}

func (c typedCommands) update(ctx context.Context, r *platform.Request, in UpdateRequest) (platform.NoData, error) {
	_, err := c.edit(ctx, r, func(d *document.Document) error {
		if in.DocumentURL != nil && !d.Virtual {
			return r.Invalid("documentURL", "Only a virtual document has a URL.", platform.CodeURL)
		}
		setIfPresent(&d.Type, in.DocumentType)
		setIfPresent(&d.FriendlyName, in.FriendlyName)
		setIfPresent(&d.DataKey, in.DocumentDataKey)
		setIfPresent(&d.URL, in.DocumentURL)
		if in.DocumentRequirementIDs != nil {
			d.RequirementIDs = in.DocumentRequirementIDs
		}
		if in.Properties != nil {
			d.Properties = in.Properties.Normalized().Apply(d.Properties)
		}
		return nil
	})
	return platform.NoData{}, err
}

func (c typedCommands) setLayers(ctx context.Context, r *platform.Request, in LayersRequest) (platform.NoData, error) {
	_, err := c.edit(ctx, r, func(d *document.Document) error {
		d.SetLayers(*in.AccessLayers)
		return r.RequireReach("accessLayers", d.Layers)
	})
	return platform.NoData{}, err
}

func (c typedCommands) setRequirements(ctx context.Context, r *platform.Request,
	in RequirementsRequest) (platform.NoData, error) {
	_, err := c.edit(ctx, r, func(d *document.Document) error {
		d.RequirementIDs = in
		return nil
	})
	return platform.NoData{}, err
}

func (c typedCommands) setDataKey(ctx context.Context, r *platform.Request,
	in DataKeyRequest) (platform.NoData, error) {
	_, err := c.edit(ctx, r, func(d *document.Document) error {
		d.DataKey = string(in)
		return nil
	})
	return platform.NoData{}, err
}

// setUploadedBy records the calling client as the one that uploaded the document, and returns it.
func (c typedCommands) setUploadedBy(ctx context.Context, r *platform.Request, _ platform.NoBody) (string, error) {
	d, err := c.edit(ctx, r, func(d *document.Document) error {
		d.UploadedByName = r.Client
		return nil
	})
	return d.UploadedByName, err
}

func (c typedCommands) markFailed(ctx context.Context, r *platform.Request,
	_ platform.NoBody) (platform.NoData, error) {
	return c.setCustomError(ctx, r, CustomErrorRequest{})
}

func (c typedCommands) setCustomError(ctx context.Context, r *platform.Request,
	in CustomErrorRequest) (platform.NoData, error) {
	_, err := c.edit(ctx, r, func(d *document.Document) error {
		d.MarkFailed(in.ErrorCode, in.ErrorMessage)
		return nil
	})
	return platform.NoData{}, err
}

func (c typedCommands) archive(ctx context.Context, r *platform.Request, in ArchiveRequest) (platform.NoData, error) {
	_, err := c.edit(ctx, r, func(d *document.Document) error {
		if !d.Archive(in.ArchivalReason) {
			return fault.New(fault.Conflict, "document_archived", "The document is already archived.")
		}
		return nil
	})
	return platform.NoData{}, err
}

func (c typedCommands) unarchive(ctx context.Context, r *platform.Request, _ platform.NoBody) (platform.NoData, error) {
	_, err := c.edit(ctx, r, func(d *document.Document) error {
		if !d.Unarchive() {
			return fault.New(fault.Conflict, "document_not_archived", "The document is not archived.")
		}
		return nil
	})
	return platform.NoData{}, err
}
