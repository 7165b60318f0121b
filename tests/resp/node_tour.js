// SPDX-License-Identifier: GPL-2.0-only
//
// ioredis and node-redis against RowSocket: the first difference ends the program. The port is the argument.
const assert = require("node:assert");
const Redis = require("ioredis");
const { createClient } = require("redis");

const port = Number(process.argv[2]);

async function withIoredis() {
  const client = new Redis({ port, maxRetriesPerRequest: 1 });
  client.on("error", () => {});
  assert.equal(await client.set("a", "1"), "OK");
  assert.equal(await client.set("a", "2", "NX"), null);
  assert.equal(await client.incrby("a", 41), 42);
  assert.deepEqual(await client.mget("a", "none"), ["42", null]);
  assert.equal(await client.setex("b", 100, "x"), "OK");
  assert.equal(await client.ttl("b"), 100);
  assert.equal(await client.hset("shop.user:7", { name: "Ann", visits: 1 }), 2);
  assert.equal(await client.hincrby("shop.user:7", "visits", 2), 3);
  assert.deepEqual(await client.hgetall("shop.user:7"), { id: "7", name: "Ann", visits: "3" });
  assert.deepEqual(await client.multi().incr("n").hget("shop.user:7", "name").exec(), [
    [null, 1],
    [null, "Ann"],
  ]);
  await assert.rejects(client.multi().incr("n").hset("shop.user:8", "visits", 1).exec(), /EXECABORT/);
  assert.equal(await client.get("n"), "1");
  const replies = await client.pipeline().get("a").lpush("a", "b").get("a").exec();
  assert.deepEqual([replies[0][1], replies[2][1]], ["42", "42"]);
  assert.match(replies[1][0].message, /no lists here/);
  const keys = [];
  for await (const some of client.scanStream({ match: "*", count: 1 })) {
    keys.push(...some);
  }
  assert.deepEqual(keys.sort(), ["a", "b", "n"]);
  assert.deepEqual(await client.call("ROWS.FIND", "shop.user", "id,name", ">=", 1, 0), [["7", "Ann"]]);
  assert.equal(await client.del("a", "b", "n", "shop.user:7"), 4);
  client.disconnect();
}

async function withNodeRedis() {
  const client = createClient({ socket: { port, reconnectStrategy: false } });
  await client.connect();
  assert.equal(await client.set("a", "1", { EX: 100 }), "OK");
  assert.equal(await client.ttl("a"), 100);
  assert.equal(await client.get("none"), null);
  assert.equal(await client.mSet({ b: "2", c: "3" }), "OK");
  assert.deepEqual(await client.mGet(["a", "none", "c"]), ["1", null, "3"]);
  assert.equal(await client.hSet("shop.user:7", { name: "Ann", visits: "1" }), 2);
  assert.equal((await client.hGetAll("shop.user:7")).name, "Ann");
  assert.deepEqual(await client.multi().incr("a").hIncrBy("shop.user:7", "visits", 1).exec(), [2, 2]);
  const keys = [];
  for await (const key of client.scanIterator({ COUNT: 1 })) {
    keys.push(key);
  }
  assert.deepEqual(keys.sort(), ["a", "b", "c"]);
  await assert.rejects(client.lPush("a", "b"), /no lists here/);
  assert.equal(await client.del(["a", "b", "c", "shop.user:7"]), 4);
  await client.quit();
}

withIoredis()
  .then(withNodeRedis)
  .catch((problem) => {
    console.error(problem);
    process.exit(1);
  });
