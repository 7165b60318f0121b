// SPDX-License-Identifier: GPL-2.0-only
//
// Makes every call of node-handlersocket once and prints what comes back as JSON, one line per call.
// Arguments: host, write port, database. test_node.py makes the table and knows the answers.
'use strict';

const handlersocket = require('node-handlersocket');
const [host, port, database] = process.argv.slice(2);

const connection = handlersocket.connect({ host, port: Number(port), auth: process.env.HS_SECRET });
connection.on('error', (error) => {
  console.log(JSON.stringify({ connection: error.message }));
  connection.close();
});
connection.on('connect', tour);

/** Call `target[name]` with the arguments; the result, or {error: text}. */
function call(target, name, ...values) {
  return new Promise((resolve) => {
    target[name](...values, (error, result) => resolve(error ? { error: error.message } : result));
  });
}

async function print(result) {
  console.log(JSON.stringify(await result));
}

async function tour() {
  const open = (...values) => call(connection, 'openIndex', database, ...values);
  const user = await open('user', 'PRIMARY', ['k', 'v', 'n'], ['n']);
  const amounts = await open('user', '', ['n']);
  await print(open('nowhere', 'PRIMARY', ['k']));
  await print(call(user, 'find', '=', [2]));
  await print(call(user, 'find', '>=', [1], { limit: 3, offset: 1 }));
  await print(call(user, 'find', '=', [handlersocket.in('5', '77', '1')], { limit: 10 }));
  await print(call(user, 'find', '>', [0], { limit: 10, filters: [handlersocket.filter('n', '>', 35)] }));
  await print(call(user, 'find', '>', [0], { limit: 10, filters: [handlersocket.while('n', '<', 35)] }));
  await print(call(user, 'insert', ['9', 'nüün\t', '90']));
  await print(call(user, 'insert', ['9', 'again', '90']));
  await print(call(user, 'update', '=', ['2'], ['2', null, '21']));
  await print(call(user, 'updateAndGet', '=', ['2'], ['2', 'zwei', '22']));
  await print(call(user, 'delete', '=', ['3']));
  await print(call(user, 'deleteAndGet', '=', ['4']));
  await print(call(amounts, 'increment', '=', ['1'], ['5']));
  await print(call(amounts, 'incrementAndGet', '=', ['1'], ['5']));
  await print(call(amounts, 'decrement', '=', ['1'], ['1']));
  await print(call(amounts, 'decrementAndGet', '=', ['1'], ['1']));
  await print(Promise.all([1, 2, 5, 9].map((k) => call(user, 'find', '=', [k]))));
  connection.close();
}
