package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sluice/client"
	"sluice/internal/command"
	"sluice/internal/linefile"
)

// DefaultProfile is the profile of a command that names none.
const DefaultProfile = "default"

// ScopePrefix begins the scope of the tokens of a tenant.
const ScopePrefix = "tenant/"

// Profile is a connection that 'sluice login' has stored: a service, a tenant of it, and a client with its secret. Each
// has a file of its own, which only its owner can read.
type Profile struct {
	APIURL   string `json:"api_url"`
	TokenURL string `json:"token_url"`
	Tenant   string `json:"tenant"`
	ClientID string `json:"client_id"`
	// ClientSecret is "" if SecretCommand, a command of a shell, prints it.
	ClientSecret  string `json:"client_secret,omitempty"`
	SecretCommand string `json:"secret_command,omitempty"`
}

var profileName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`)

// ProfilePath returns the file of a profile.
func ProfilePath(name string) (string, error) {
	if !profileName.MatchString(name) {
		return "", command.Usagef("a profile's name is up to 64 letters, digits, underscores, dots and hyphens, not %q",
			name)
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for profiles: %w", err)
	}
	return filepath.Join(dir, "sluice", "profiles", name+".json"), nil
}

// noProfileError is the error for the name of a profile that does not exist. It is fs.ErrNotExist.
type noProfileError string

// Error says how to make the profile.
func (e noProfileError) Error() string {
	return fmt.Sprintf("there is no profile %s; 'sluice login --profile %s' makes it", string(e), string(e))
}

// Is reports that the error is fs.ErrNotExist.
func (e noProfileError) Is(target error) bool { return target == fs.ErrNotExist }

// ReadProfile reads a profile. If there is none of this name, the error is fs.ErrNotExist. A file that others can read
// is refused, as it holds a secret.
func ReadProfile(name string) (Profile, error) {
	path, err := ProfilePath(name)
	if err != nil {
		return Profile{}, err
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Profile{}, noProfileError(name)
	}
	if err != nil {
		return Profile{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Profile{}, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return Profile{}, fmt.Errorf("others can reach the secret in %s; run: chmod 600 '%s'", path, path)
	}
	var p Profile
	if err := json.NewDecoder(file).Decode(&p); err != nil {
		// The decoder's message could show a part of the secret.
		return Profile{}, fmt.Errorf("%s is damaged; 'sluice login --profile %s' writes it again", path, name)
	}
	return p, nil
}

// Store writes the profile, with mode 0600, in place of an earlier one of the same name, and returns its path.
func (p Profile) Store(name string) (string, error) {
	path, err := ProfilePath(name)
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".new-") // with mode 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name()) // it has another name by then if all went well
	_, err = file.Write(append(text, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(file.Name(), path)
}

// complete fills in what a connection leaves open, and runs the command for the secret if that is open. The secret of a
// profile is for its own client and service only: if flags or environment name another one, they must give the secret,
// too.
func (p Profile) complete(ctx context.Context, config *client.Config, name string) error {
	if config.APIURL == "" || config.APIURL == p.APIURL { // otherwise the token URL is that of the given address
		config.TokenURL = cmp.Or(config.TokenURL, p.TokenURL)
	}
	config.APIURL = cmp.Or(config.APIURL, p.APIURL)
	config.TokenURL = cmp.Or(config.TokenURL, TokenURLOf(config.APIURL))
	config.ClientID = cmp.Or(config.ClientID, p.ClientID)
	config.Scope = cmp.Or(config.Scope, ScopePrefix+p.Tenant)
	isOwn := config.APIURL == p.APIURL && config.TokenURL == p.TokenURL && config.ClientID == p.ClientID
	if config.ClientSecret == "" && !isOwn {
		return fmt.Errorf("flags or environment name another service or client than profile %s, whose secret is not "+
			"sent to it; give the secret (--client-secret-file) or leave them out", name)
	}
	if config.ClientSecret == "" && p.SecretCommand != "" {
		var err error
		config.ClientSecret, err = runSecretCommand(ctx, p.SecretCommand)
		return err
	}
	config.ClientSecret = cmp.Or(config.ClientSecret, p.ClientSecret)
	return nil
}

// TenantOf returns the tenant of a scope.
func TenantOf(scope string) string { return strings.TrimPrefix(scope, ScopePrefix) }

// ProfileRecord is a stored profile as it is printed, without its secret.
type ProfileRecord struct {
	Name     string `json:"name"`
	APIURL   string `json:"api_url"`
	TokenURL string `json:"token_url"`
	Tenant   string `json:"tenant"`
	ClientID string `json:"client_id"`
	// IsUsed means that commands use it unless flags or environment name something else.
	IsUsed bool `json:"is_used"`
	// Error says why the profile cannot be used; "" if it can.
	Error string `json:"error,omitempty"`
}

// ListProfiles returns the stored profiles by name. One that cannot be read is among them, with the reason.
func ListProfiles() ([]ProfileRecord, error) {
	path, err := ProfilePath(DefaultProfile)
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	used := cmp.Or(os.Getenv("SLUICE_PROFILE"), DefaultProfile)
	var records []ProfileRecord
	for _, file := range files {
		name, isProfile := strings.CutSuffix(file.Name(), ".json")
		if !isProfile || !profileName.MatchString(name) {
			continue
		}
		r := ProfileRecord{Name: name, IsUsed: name == used}
		p, err := ReadProfile(name)
		if err != nil {
			r.Error = err.Error()
		} else {
			r.APIURL, r.TokenURL, r.Tenant, r.ClientID = p.APIURL, p.TokenURL, p.Tenant, p.ClientID
		}
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b ProfileRecord) int { return strings.Compare(a.Name, b.Name) })
	return records, nil
}

// CompleteProfiles completes the names of profiles.
func CompleteProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	records, _ := ListProfiles()
	for _, r := range records {
		names = append(names, cobra.CompletionWithDesc(r.Name, linefile.Printable(r.APIURL)))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
