package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/command"
	"sluice/shared/access/auth"
	"sluice/shared/access/ratelimit"
	"sluice/shared/access/tenancy"
)

// settingsOutput is how the settings of a tenant are printed. The names are those that tenant set takes.
type settingsOutput struct {
	TenantID         string `json:"tenant_id"`
	BatchEnabled     bool   `json:"batch_enabled"`
	MainEntityByType bool   `json:"main_entity_by_type"`
	// MaxPastDays is 0 where transactions may be of any age.
	MaxPastDays    int64 `json:"max_past_days"`
	MaxFutureHours int64 `json:"max_future_hours"`
	// RetentionDays is 0 where stored transactions never expire.
	RetentionDays int64 `json:"retention_days"`
	Parquet       bool  `json:"parquet"`
	FourEyes      bool  `json:"four_eyes"`
	MaskPartial   bool  `json:"mask_partial_properties"`

	limitsOutput
}

// limitsOutput are the limits of a tenant; 0 where there is none.
type limitsOutput struct {
	UploadURLsPerMinute         int64 `json:"upload_urls_per_minute"`
	UploadPartsPerMinute        int64 `json:"upload_parts_per_minute"`
	BatchStatusesPerMinute      int64 `json:"batch_statuses_per_minute"`
	BatchResultsPerMinute       int64 `json:"batch_results_per_minute"`
	BatchListsPerMinute         int64 `json:"batch_lists_per_minute"`
	BatchCancelsPerMinute       int64 `json:"batch_cancels_per_minute"`
	SingleTransactionsPerSecond int64 `json:"single_transactions_per_second"`
	TransactionReadsPerSecond   int64 `json:"transaction_reads_per_second"`
	ObservabilityPerMinute      int64 `json:"observability_per_minute"`
	PlatformPerSecond           int64 `json:"platform_per_second"`
	EntityCommandsPerMinute     int64 `json:"entity_commands_per_minute"`
	EntityCommandsPerHour       int64 `json:"entity_commands_per_hour"`
	EntityCommandsPerDay        int64 `json:"entity_commands_per_day"`
	WebhookSendsPerMinute       int64 `json:"webhook_sends_per_minute"`
	OpenBatches                 int64 `json:"open_batches"`
	UnvalidatedBytes            int64 `json:"unvalidated_bytes"`
	OpenDocuments               int64 `json:"open_documents"`
	UnscannedBytes              int64 `json:"unscanned_bytes"`
	OpenAnswers                 int64 `json:"open_answers"`
}

func newLimitsOutput(s ratelimit.Settings) limitsOutput {
	return limitsOutput{
		UploadURLsPerMinute:         s.Get(ratelimit.UploadURLsPerMinute),
		UploadPartsPerMinute:        s.Get(ratelimit.UploadPartsPerMinute),
		BatchStatusesPerMinute:      s.Get(ratelimit.BatchStatusesPerMinute),
		BatchResultsPerMinute:       s.Get(ratelimit.BatchResultsPerMinute),
		BatchListsPerMinute:         s.Get(ratelimit.BatchListsPerMinute),
		BatchCancelsPerMinute:       s.Get(ratelimit.BatchCancelsPerMinute),
		SingleTransactionsPerSecond: s.Get(ratelimit.SingleTransactionsPerSecond),
		TransactionReadsPerSecond:   s.Get(ratelimit.TransactionReadsPerSecond),
		ObservabilityPerMinute:      s.Get(ratelimit.ObservabilityPerMinute),
		PlatformPerSecond:           s.Get(ratelimit.PlatformPerSecond),
		EntityCommandsPerMinute:     s.Get(ratelimit.EntityCommandsPerMinute),
		EntityCommandsPerHour:       s.Get(ratelimit.EntityCommandsPerHour),
		EntityCommandsPerDay:        s.Get(ratelimit.EntityCommandsPerDay),
		WebhookSendsPerMinute:       s.Get(ratelimit.WebhookSendsPerMinute),
		OpenBatches:                 s.Get(ratelimit.OpenBatches),
		UnvalidatedBytes:            s.Get(ratelimit.UnvalidatedBytes),
		OpenDocuments:               s.Get(ratelimit.OpenDocuments),
		UnscannedBytes:              s.Get(ratelimit.UnscannedBytes),
		OpenAnswers:                 s.Get(ratelimit.OpenAnswers),
	}
}

func newSettingsOutput(t auth.Tenant) settingsOutput {
	return settingsOutput{
		TenantID: t.ID, BatchEnabled: t.BatchEnabled, FourEyes: t.FourEyes, limitsOutput: newLimitsOutput(t.Limits),
		MainEntityByType: t.Settings.MainEntity == tenancy.ByPaymentType,
		MaxPastDays:      int64(t.Settings.MaxPast / day), MaxFutureHours: int64(t.Settings.MaxFuture / time.Hour),
		RetentionDays: int64(t.Settings.Retention / day), Parquet: t.Settings.Parquet,
		MaskPartial: t.MaskPartialProperties,
	}
}

const day = 24 * time.Hour

// tenantSetting is a setting that tenant set takes.
type tenantSetting struct {
	name string
	// parse adds the setting to a change, or says what a value must be.
	parse func(c *auth.TenantChange, value string) error
}

// tenantSettings are the settings in the order of the help.
var tenantSettings = slices.Concat(otherSettings, limitSettings(), []tenantSetting{{allLimits, parseAllLimits}})

// allLimits is the name by which all limits are set at once.
const allLimits = "limits"

// limitSettings are the limits of a tenant.
func limitSettings() []tenantSetting {
	var settings []tenantSetting
	for _, name := range ratelimit.AllSettings() {
		settings = append(settings, tenantSetting{string(name), func(c *auth.TenantChange, value string) error {
			limit, err := parseLimit(value, name.Max())
			setLimit(c, name, limit)
			return err
		}})
	}
	return settings
}

// parseLimit reads the value of a limit: a number, none for 0, nil for the default.
func parseLimit(value string, most int64) (*int64, error) {
	switch value {
	case "default":
		return nil, nil
	case "none":
		return new(int64), nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 || n > most {
		return nil, fmt.Errorf("must be a whole number from 0 to %d, none (as 0: no limit) or default, not %q", most,
			value)
	}
	return &n, nil
}

// parseAllLimits sets every limit that is not given by its own name to none or the default.
func parseAllLimits(c *auth.TenantChange, value string) error {
	if value != "none" && value != "default" {
		return fmt.Errorf("must be none or default, not %q", value)
	}
	limit, err := parseLimit(value, 0)
	for _, name := range ratelimit.AllSettings() {
		if _, given := c.Limits[name]; !given {
			setLimit(c, name, limit)
		}
	}
	return err
}

func setLimit(c *auth.TenantChange, name ratelimit.Setting, limit *int64) {
	if c.Limits == nil {
		c.Limits = map[ratelimit.Setting]*int64{}
	}
	c.Limits[name] = limit
}

var otherSettings = []tenantSetting{
	boolSetting("main_entity_by_type", func(c *auth.TenantChange, on *bool) {
		rule := tenancy.EitherParty
		if *on {
			rule = tenancy.ByPaymentType
		}
		c.MainEntity = &rule
	}),
	durationSetting("max_past_days", 100_000, day, func(c *auth.TenantChange, d *time.Duration) { c.MaxPast = d }),
	durationSetting("max_future_hours", 1_000_000, time.Hour,
		func(c *auth.TenantChange, d *time.Duration) { c.MaxFuture = d }),
	durationSetting("retention_days", 100_000, day, func(c *auth.TenantChange, d *time.Duration) { c.Retention = d }),
	boolSetting("parquet", func(c *auth.TenantChange, on *bool) { c.Parquet = on }),
	boolSetting("four_eyes", func(c *auth.TenantChange, on *bool) { c.FourEyes = on }),
	boolSetting("mask_partial_properties", func(c *auth.TenantChange, on *bool) { c.MaskPartialProperties = on }),
}

func boolSetting(name string, set func(c *auth.TenantChange, on *bool)) tenantSetting {
	return tenantSetting{name, func(c *auth.TenantChange, value string) error {
		if value != "true" && value != "false" {
			return fmt.Errorf("must be true or false, not %q", value)
		}
		on := value == "true"
		set(c, &on)
		return nil
	}}
}

// durationSetting returns a setting that is a number of units, at most so many.
func durationSetting(
	name string, most int64, unit time.Duration, set func(c *auth.TenantChange, d *time.Duration),
) tenantSetting {
	return tenantSetting{name, func(c *auth.TenantChange, value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || n > most {
			return fmt.Errorf("must be a whole number from 0 to %d, not %q", most, value)
		}
		d := time.Duration(n) * unit
		set(c, &d)
		return nil
	}}
}

// parseTenantChange reads settings of the form KEY=VALUE, each at most once.
func parseTenantChange(settings []string) (auth.TenantChange, error) {
	var c auth.TenantChange
	seen := map[string]bool{}
	// The setting of all limits comes last, so that it leaves alone those that are given by their names.
	settings = slices.Clone(settings)
	slices.SortStableFunc(settings, func(a, b string) int {
		return cmp.Compare(strings.Count(a, allLimits+"="), strings.Count(b, allLimits+"="))
	})
	for _, setting := range settings {
		name, value, hasValue := strings.Cut(setting, "=")
		i := slices.IndexFunc(tenantSettings, func(s tenantSetting) bool { return s.name == name })
		switch {
		case i < 0:
			return c, command.Usagef("there is no setting %q; there are %s", name, tenantSettingNames())
		case !hasValue:
			return c, command.Usagef("%s needs a value: %s=VALUE", name, name)
		case seen[name]:
			return c, command.Usagef("%s is given twice", name)
		}
		if err := tenantSettings[i].parse(&c, value); err != nil {
			return c, command.Usagef("%s %w", name, err)
		}
		seen[name] = true
	}
	return c, nil
}

func tenantSettingNames() string {
	names := make([]string, len(tenantSettings))
	for i, s := range tenantSettings {
		names[i] = s.name
	}
	return strings.Join(names, ", ")
}

func getTenant(ctx context.Context, a *admin, args []string) (any, error) {
	t, err := a.registry.Tenant(ctx, args[0])
	return newSettingsOutput(t), explainNotFound(err, "tenant", args[0])
}

func setTenant(ctx context.Context, a *admin, args []string) (any, error) {
	change, err := parseTenantChange(args[1:])
	if err != nil {
		return nil, err
	}
	t, err := a.registry.ChangeTenant(ctx, args[0], change)
	return newSettingsOutput(t), explainNotFound(err, "tenant", args[0])
}

func (a *admin) setTenantCommand() *cobra.Command {
	c := a.command(&cobra.Command{
		Use: "set TENANT KEY=VALUE...", Short: "change settings of a tenant",
		Long: `
The settings and their values, with the default in parentheses:
  main_entity_by_type=true|false  the main entity of a payin is the receiver, of all else the sender (false: either)
  max_past_days=N                 how old transactions may be at their receipt; 0 for any age (0)
  max_future_hours=N              how far in the future they may be (720)
  retention_days=N                how long after its receipt a transaction is kept; 0 for ever (0)
  parquet=true|false              accepted lines are also written as Parquet files: docs/parquet.md (false)
  four_eyes=true|false            no client verifies an entity's draft that it made or changed, publishes a policy's
                                  draft whose last change is its own, or closes a screening batch with a match that
                                  it resolved (false)
  mask_partial_properties=true|false  partial-properties masks sensitive fields as reads of entities do (false)
Limits of the tenant: a number, none (as 0), or default.
` + describeLimits() + `  limits=none|default             all limits that are not given by their own names
Settings of batches count for batches that are created from then on and for single transactions that arrive from then
on, limits at once. What is stored keeps the retention with which it was stored.`,
		Example: `
sluice admin tenant set 5b8d3b2a-0f0e-4b39-8b62-7f6f3c0f9d11 max_past_days=3650 four_eyes=true`,
	}, setTenant)
	c.ValidArgsFunction = func(c *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeSettings(c, args, text)
	}
	return c
}

// describeLimits returns a line about each limit, with its default in parentheses.
func describeLimits() string {
	var lines strings.Builder
	for _, name := range ratelimit.AllSettings() {
		fmt.Fprintf(&lines, "  %-30s  %s (%d)\n", name, name.Meaning(), name.Default())
	}
	return lines.String()
}

// completeSettings completes the name of a setting.
func completeSettings(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := make([]string, len(tenantSettings))
	for i, s := range tenantSettings {
		names[i] = s.name + "="
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
