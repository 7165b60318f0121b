// SPDX-License-Identifier: GPL-2.0-only
//
// go-redis against RowSocket: each step ends the program with what went wrong. The address is its argument.
package main

import (
	"context"
	"fmt"
	"os"
	"reflect"

	"github.com/redis/go-redis/v9"
)

var failed = false

func expect(what string, got any, wanted any) {
	if !reflect.DeepEqual(got, wanted) {
		fmt.Printf("%s: got %#v, wanted %#v\n", what, got, wanted)
		failed = true
	}
}

func strings(ctx context.Context, client *redis.Client) {
	expect("set", client.Set(ctx, "a", "1", 0).Val(), "OK")
	expect("set nx", client.SetNX(ctx, "a", "2", 0).Val(), false)
	expect("get", client.Get(ctx, "a").Val(), "1")
	expect("a miss", client.Get(ctx, "none").Err(), redis.Nil)
	expect("mset", client.MSet(ctx, "b", "2", "c", "3").Val(), "OK")
	expect("mget", client.MGet(ctx, "a", "none", "c").Val(), []any{"1", nil, "3"})
	expect("incr", client.IncrBy(ctx, "a", 41).Val(), int64(42))
	expect("expire", client.Expire(ctx, "a", 100e9).Val(), true)
	expect("ttl", client.TTL(ctx, "a").Val().Seconds(), 100.0)
	expect("del", client.Del(ctx, "a", "b", "none").Val(), int64(2))
}

type user struct {
	Name   string `redis:"name"`
	Visits int    `redis:"visits"`
}

func hashes(ctx context.Context, client *redis.Client) {
	expect("hset", client.HSet(ctx, "shop.user:7", user{"Ann", 1}).Val(), int64(2))
	expect("hincrby", client.HIncrBy(ctx, "shop.user:7", "visits", 2).Val(), int64(3))
	var found user
	expect("scan", client.HGetAll(ctx, "shop.user:7").Scan(&found), nil)
	expect("hgetall", found, user{"Ann", 3})
	expect("hdel", client.HDel(ctx, "shop.user:7", "visits").Val(), int64(1))
	expect("hexists", client.HExists(ctx, "shop.user:7", "visits").Val(), false)
}

func groups(ctx context.Context, client *redis.Client) {
	var sum *redis.IntCmd
	_, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		sum = pipe.Incr(ctx, "n")
		pipe.HSet(ctx, "shop.user:8", "name", "Bob")
		return nil
	})
	expect("exec", err, nil)
	expect("incr of exec", sum.Val(), int64(1))
	_, err = client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Incr(ctx, "n")
		pipe.HSet(ctx, "shop.user:9", "visits", "1") // the name has no default
		return nil
	})
	expect("exec fails", err != nil, true)
	expect("and does nothing", client.Get(ctx, "n").Val(), "1")
}

func ranges(ctx context.Context, client *redis.Client) {
	rows := client.Do(ctx, "ROWS.FIND", "shop.user", "id,name", ">=", 1, 0).Val()
	expect("rows", rows, []any{[]any{"7", "Ann"}, []any{"8", "Bob"}})
}

func main() {
	ctx := context.Background()
	for _, version := range []int{2, 3} {
		client := redis.NewClient(&redis.Options{Addr: os.Args[1], Protocol: version})
		strings(ctx, client)
		hashes(ctx, client)
		groups(ctx, client)
		ranges(ctx, client)
		client.Del(ctx, "n", "c", "shop.user:7", "shop.user:8")
		client.Close()
	}
	if failed {
		os.Exit(1)
	}
}
