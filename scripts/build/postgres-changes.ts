/** What our bundles, and the tests' own processes, change in the text of postgres.js. */
import { join } from "node:path";
import { projectRoot } from "../../lib/project-root.ts";
import type { Change, PackageChanges } from "./text-changes.ts";

/**
 * Bytes that were not sent before a connection closed must not begin the next one: the server refuses them as a start, or waits
 * for the rest.
 */
const dropUnsent: Change = {
  text: `clearImmediate(nextWriteTimer)
    socket.removeListener('data', data)`,
  becomes: `clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.removeListener('data', data)`,
};

/**
 * Each statement of a closed connection fails, and nothing of it is left for the next connection. postgres.js would keep a
 * statement that is issued between a socket's error and its close, and resolve it with the next connection's start, although the
 * server has never had it. It would repeat a start that the server closes at once and without end, and store the rows of the next
 * connection's first statement behind those that had come before. It would go on with another host, and our URLs name one.
 */
const failAll: Change = {
  text: `if (initial)
      return reconnect()

    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))`,
  becomes: `;(initial || query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = results = errorResponse = null
    result = new Result()
    rows = 0`,
};

/**
 * A transaction takes its connection, however much is waiting to be sent there. postgres.js would send BEGIN and not take it: the
 * transaction's statements would fail, and those of others run inside.
 */
const takeConnection: Change = {
  text: `return write(toBuffer(q))
        && !q.describeFirst
        && !q.cursorFn
        && sent.length < max_pipeline
        && (!q.options.onexecute || q.options.onexecute(connection))`,
  becomes: `const more = write(toBuffer(q)) && !q.describeFirst && !q.cursorFn && sent.length < max_pipeline
      return q.options.onexecute ? q.options.onexecute(connection) : more`,
};

/**
 * Once a transaction has lost its connection its statements fail, also its commit and its rollback. postgres.js would write them to
 * the closed connection, which ends the process, or to the next one, where they run alone or in another transaction.
 */
const endLost: readonly Change[] = [
  {
    text: `, connection
      , prepare = null`,
    becomes: `, connection
      , lost = null
      , prepare = null`,
  },
  {
    text: "new Promise((_, reject) => connection.onclose = reject)",
    becomes: `new Promise((_, reject) => connection.onclose = (e) => {
          lost = e
          while (queries.length)
            queries.shift().reject(e)
          reject(e)
        })`,
  },
  {
    text: "q.catch(e => uncaughtError || (uncaughtError = e))",
    becomes: `q.catch(e => uncaughtError || (uncaughtError = e))
        if (lost)
          return q.reject(lost)
`,
  },
];

/**
 * A queue frees the places of what has left it. postgres.js frees them only when the queue is empty: that of a busy pool would grow
 * with each statement, and each statement searches all of it.
 */
const freePlaces: Change = {
  text: `if (index === xs.length) {
        index = 0
        xs = []
      }`,
  becomes: `if (index * 2 >= xs.length) {
        xs = xs.slice(index)
        index = 0
      }`,
};

/**
 * A connection's prepared statements are found by the number of their text. postgres.js would find them by the text itself, joined
 * to the types of the parameters each time: V8 reads all of such a new string, some kilobytes, before it can look it up.
 */
const numberTexts: readonly Change[] = [
  {
    text: `, statements = {}
    , statementId`,
    becomes: `, statements = {}
    , numbers = new Map()
    , statementId`,
  },
  {
    text: `statements = {}
      needsTypes`,
    becomes: `statements = {}
      numbers = new Map()
      needsTypes`,
  },
  {
    text: "q.signature = q.prepare && types + string",
    becomes:
      "q.signature = q.prepare && types + ' ' + (numbers.get(string) ?? numbers.set(string, numbers.size).size - 1)",
  },
];

/**
 * A value of type `varchar` (1043 in `pg_type`) arrives as its bytes, for long text that is sent on as bytes: a statement asks for it by
 * a cast. Our tables have no `varchar`. Ponder's checkpoints and some columns of `information_schema` are: cast them to `text`.
 */
const varcharAsBytes: Change = {
  text: "value = length === -1",
  becomes: `value = column.type === 1043 && length !== -1
        ? x.subarray(index, index += length)
        : length === -1`,
};

/**
 * A query's `resolve` and `reject` are methods. postgres.js makes two closures for each query, and then V8 frees the query, with its
 * result, only in a major collection, of the whole heap. (Seen in Node 20; why it does is not known.)
 */
const settleByMethods: readonly Change[] = [
  {
    text: `this.resolve = x => (this.active = false, resolve(x))
    this.reject = x => (this.active = false, reject(x))

    this.active`,
    becomes: `this.settle = { resolve, reject }

    this.active`,
  },
  {
    text: "get origin() {",
    becomes: `resolve(x) {
    this.active = false
    this.settle.resolve(x)
  }

  reject(x) {
    this.active = false
    this.settle.reject(x)
  }

  get origin() {`,
  },
];

export const postgresChanges: PackageChanges = {
  name: "postgres.js",
  folder: join(projectRoot, "node_modules", "postgres", "src"),
  files: {
    "connection.js": [dropUnsent, failAll, takeConnection, ...numberTexts, varcharAsBytes],
    "index.js": endLost,
    "query.js": settleByMethods,
    "queue.js": [freePlaces],
  },
};
