package outbound

import "time"

// CacheSizes returns how many tokens and pools of connections a client keeps.
func (c *Client) CacheSizes() (tokens, pools int) { return c.tokens.recent.Len(), c.pools.recent.Len() }

// ReadToken reads the reply to a token request.
func ReadToken(reply *Reply, asked time.Time) (value string, until time.Time, err error) {
	t, err := readToken(reply, asked)
	return t.value, t.until, err
}
