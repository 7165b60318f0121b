// SPDX-License-Identifier: GPL-2.0-only
//
// gomemcache against RowSocket: each step ends the program with what went wrong. The address is its argument.
package main

import (
	"fmt"
	"os"
	"reflect"

	"github.com/bradfitz/gomemcache/memcache"
)

var failed = false

func expect(what string, got any, wanted any) {
	if !reflect.DeepEqual(got, wanted) {
		fmt.Printf("%s: got %#v, wanted %#v\n", what, got, wanted)
		failed = true
	}
}

func text(client *memcache.Client, key string) string {
	item, err := client.Get(key)
	if err != nil {
		return err.Error()
	}
	return string(item.Value)
}

func stores(client *memcache.Client) {
	expect("a miss", text(client, "a"), memcache.ErrCacheMiss.Error())
	expect("replace", client.Replace(&memcache.Item{Key: "a", Value: []byte("0")}), memcache.ErrNotStored)
	expect("set", client.Set(&memcache.Item{Key: "a", Value: []byte("1"), Flags: 7}), nil)
	expect("add", client.Add(&memcache.Item{Key: "a", Value: []byte("2")}), memcache.ErrNotStored)
	expect("append", client.Append(&memcache.Item{Key: "a", Value: []byte("0")}), nil)
	expect("prepend", client.Prepend(&memcache.Item{Key: "a", Value: []byte("2")}), nil)
	expect("get", text(client, "a"), "210")
	item, _ := client.Get("a")
	expect("flags", item.Flags, uint32(7))
}

func counts(client *memcache.Client) {
	client.Set(&memcache.Item{Key: "n", Value: []byte("10")})
	sum, err := client.Increment("n", 5)
	expect("incr", sum, uint64(15))
	expect("incr", err, nil)
	sum, _ = client.Decrement("n", 100)
	expect("decr", sum, uint64(0))
	_, err = client.Increment("none", 1)
	expect("incr of a miss", err, memcache.ErrCacheMiss)
}

func compares(client *memcache.Client) {
	first, _ := client.Get("a")
	second, _ := client.Get("a")
	first.Value = []byte("first")
	second.Value = []byte("second")
	expect("cas", client.CompareAndSwap(first), nil)
	expect("a late cas", client.CompareAndSwap(second), memcache.ErrCASConflict)
	expect("what is there", text(client, "a"), "first")
}

func expires(client *memcache.Client) {
	expect("touch", client.Touch("a", 1000), nil)
	expect("touch of a miss", client.Touch("none", 1000), memcache.ErrCacheMiss)
	client.Set(&memcache.Item{Key: "over", Value: []byte("1"), Expiration: -1})
	expect("what has expired", text(client, "over"), memcache.ErrCacheMiss.Error())
}

func many(client *memcache.Client) {
	keys := []string{"none"}
	for number := 0; number < 100; number++ {
		key := fmt.Sprintf("k%d", number)
		client.Set(&memcache.Item{Key: key, Value: []byte(key)})
		keys = append(keys, key)
	}
	items, err := client.GetMulti(keys)
	expect("get of many", err, nil)
	expect("how many", len(items), 100)
	expect("one of them", string(items["k42"].Value), "k42")
}

func main() {
	client := memcache.New(os.Args[1])
	expect("ping", client.Ping(), nil)
	stores(client)
	counts(client)
	compares(client)
	expires(client)
	many(client)
	expect("delete", client.Delete("a"), nil)
	expect("delete of a miss", client.Delete("a"), memcache.ErrCacheMiss)
	expect("flush", client.FlushAll(), nil)
	expect("what was flushed", text(client, "k42"), memcache.ErrCacheMiss.Error())
	if failed {
		os.Exit(1)
	}
}
