package storage

import "github.com/versity/versitygw/auth"

// accounts tells the gateway which access keys there are. All may do everything: what a function may do is decided where its
// policies are known.
type accounts struct{ keys Keys }

var errFixed = auth.ErrNoSuchUser

func (a accounts) GetUserAccount(id string) (auth.Account, error) {
	if id == a.keys.RootID {
		return auth.Account{Access: id, Secret: a.keys.RootSecret, Role: auth.RoleAdmin}, nil
	}
	if secret, ok := a.keys.Others[id]; ok {
		return auth.Account{Access: id, Secret: secret, Role: auth.RoleAdmin}, nil
	}
	return auth.Account{}, auth.ErrNoSuchUser
}

func (a accounts) ResolveAccounts(ids []string) ([]string, error) {
	var unknown []string
	for _, id := range ids {
		if _, err := a.GetUserAccount(id); err != nil {
			unknown = append(unknown, id)
		}
	}
	return unknown, nil
}

func (a accounts) ListUserAccounts() ([]auth.Account, error) { return nil, nil }

// The accounts are those of the template; nobody can change them.

func (accounts) CreateAccount(auth.Account) error                  { return errFixed }
func (accounts) UpdateUserAccount(string, auth.MutableProps) error { return errFixed }
func (accounts) DeleteUserAccount(string) error                    { return errFixed }
func (accounts) Shutdown() error                                   { return nil }
