package replica

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"secateur/internal/store/redisdb"
)

// State is the state of a replica at its last announcement.
type State struct {
	Version   string    `json:"version"`
	StartedAt time.Time `json:"started_at"`
	Config    string    `json:"config"` // SHA-256 of its configuration file
	InFlight  int       `json:"in_flight"`
	Sessions  int       `json:"sessions"`
}

// Member is a living replica.
type Member struct {
	Name    string
	Address string
	Self    bool // it is this one
	State   State
}

// rollKey is a sorted set of all replicas by their last announcement. It says where to look, not
// who is alive.
var rollKey = redisdb.Key("replica", "roll", "")

const (
	rollLife = time.Hour
	maxRoll  = 1000 // maximum number of replicas read
)

// enroll adds this replica to the roll, and removes those long gone.
func (g *Group) enroll(ctx context.Context, p redis.Pipeliner) {
	now := time.Now()
	p.ZAdd(ctx, rollKey, redis.Z{Score: float64(now.Unix()), Member: g.id.String()})
	p.ZRemRangeByScore(ctx, rollKey, "-inf", "("+strconv.FormatInt(now.Add(-rollLife).Unix(), 10))
	p.Expire(ctx, rollKey, rollLife)
}

// Members lists the living replicas by name. An error comes from the engine; the others are then
// unknown.
func (g *Group) Members(ctx context.Context) ([]Member, error) {
	ctx, cancel := context.WithTimeout(ctx, announceTime)
	defer cancel()
	ids, err := g.opt.DB.ZRevRange(ctx, rollKey, 0, maxRoll-1).Result()
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	said := make([]*redis.StringCmd, len(ids))
	_, err = g.opt.DB.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			said[i] = p.Get(ctx, redisdb.Key("replica", id, ""))
		}
		return nil
	})
	if redisdb.IsAway(err) {
		return nil, err
	}
	var all []Member
	for i, cmd := range said {
		var a announcement
		if b, err := cmd.Bytes(); err != nil || json.Unmarshal(b, &a) != nil {
			continue // gone
		}
		all = append(all, Member{Name: a.Name, Address: a.Address, Self: ids[i] == g.id.String(), State: a.State})
	}
	slices.SortFunc(all, func(a, b Member) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}
