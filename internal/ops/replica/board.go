package replica

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"secateur/internal/store/redisdb"
)

// Board is a log where replicas leave posts for each other, and for replicas that start later. It
// is a Redis Stream that drops its oldest posts.
type Board struct {
	Name string
	Keep int64 // approximate number of posts
}

// Post is a post on a board.
type Post struct {
	Board string // name of the board
	From  string // name of the replica
	Body  []byte

	id string // assigned by the engine
}

const (
	boardLife = 24 * time.Hour // after the last post
	postTime  = 2 * time.Second
	readEvery = 250 * time.Millisecond // polling interval of boards
	readCount = 64                     // posts per board and read

	fromField, bodyField = "from", "body"
)

func (b Board) key() string { return redisdb.Key("replica", "boards", b.Name) }

// Post adds a post to a board, in one round trip.
func (g *Group) Post(ctx context.Context, b Board, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	_, err := g.opt.DB.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.XAdd(ctx, &redis.XAddArgs{Stream: b.key(), MaxLen: b.Keep, Approx: true, Values: []any{fromField, g.name, bodyField, body}})
		p.Expire(ctx, b.key(), boardLife)
		return nil
	})
	return err
}

// Follow passes on the posts of others, existing ones first, until ctx is done. While the engine is
// unreachable it waits, and then resumes.
func (g *Group) Follow(ctx context.Context, boards []Board, got func(Post)) {
	r := newBoardReader(g, boards)
	for ctx.Err() == nil {
		posts, err := r.next(ctx)
		for _, p := range posts {
			got(p)
		}
		if err == nil && len(posts) > 0 {
			continue // there may be more
		}
		select {
		case <-ctx.Done():
		case <-time.After(readEvery):
		}
	}
}

// boardReader holds a cursor for each of several boards.
type boardReader struct {
	g      *Group
	boards []Board
	seen   []string // id of the last post, by board
	lost   bool     // the engine was unreachable: it may have come back empty
}

func newBoardReader(g *Group, boards []Board) *boardReader {
	r := &boardReader{g: g, boards: boards}
	for range boards {
		r.seen = append(r.seen, "0")
	}
	return r
}

// next returns the new posts, oldest first; none: nothing new.
func (r *boardReader) next(ctx context.Context) ([]Post, error) {
	ctx, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	if r.lost {
		if err := r.startOver(ctx); err != nil {
			return nil, err
		}
	}
	streams := make([]string, 0, 2*len(r.boards))
	for _, b := range r.boards {
		streams = append(streams, b.key())
	}
	found, err := r.g.opt.DB.XRead(ctx, &redis.XReadArgs{Streams: append(streams, r.seen...), Count: readCount, Block: -1}).Result()
	if err != nil {
		r.lost = redisdb.IsAway(err) || r.lost
		return nil, noneIsNil(err)
	}
	var posts []Post
	for _, stream := range found {
		i := slices.IndexFunc(r.boards, func(b Board) bool { return b.key() == stream.Stream })
		for _, m := range stream.Messages {
			r.seen[i] = m.ID
			from, _ := m.Values[fromField].(string)
			body, _ := m.Values[bodyField].(string)
			posts = append(posts, Post{Board: r.boards[i].Name, From: from, Body: []byte(body), id: m.ID})
		}
	}
	slices.SortStableFunc(posts, func(a, b Post) int { return compareIDs(a.id, b.id) })
	return slices.DeleteFunc(posts, func(p Post) bool { return p.From == r.g.name }), nil
}

// startOver resets the cursor of a board whose posts are all older than the last one seen: it was
// recreated.
func (r *boardReader) startOver(ctx context.Context) error {
	for i, b := range r.boards {
		newest, err := r.g.opt.DB.XRevRangeN(ctx, b.key(), "+", "-", 1).Result()
		if err != nil {
			return err
		}
		if len(newest) == 0 || compareIDs(newest[0].ID, r.seen[i]) < 0 {
			r.seen[i] = "0"
		}
	}
	r.lost = false
	return nil
}

// compareIDs compares stream ids: milliseconds, a dash, a number.
func compareIDs(a, b string) int {
	ams, an := splitID(a)
	bms, bn := splitID(b)
	return cmp.Or(cmp.Compare(ams, bms), cmp.Compare(an, bn))
}

func splitID(id string) (ms, n uint64) {
	first, second, _ := strings.Cut(id, "-")
	ms, _ = strconv.ParseUint(first, 10, 64)
	n, _ = strconv.ParseUint(second, 10, 64)
	return ms, n
}

// noneIsNil drops the error redis.Nil, which means an empty result.
func noneIsNil(err error) error {
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}
