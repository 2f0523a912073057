/**
 * A worker for tests that obeys its texts: `sleep 50`, `crash` or `refuse`.
 * A vector contains the process ID and the number of responses so far.
 */
const mode = process.argv[2]
let responses = 0

process.on('disconnect', () => process.exit())

/** Blocks the event loop, as the model does. */
function block(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function handleRequest({ id, text }) {
  const [word, ms] = text.split(' ')
  if (word === 'crash') process.exit(7)
  if (word === 'sleep') block(Number(ms))
  if (word === 'refuse') process.send({ kind: 'error', id, error: 'this text is refused' })
  else process.send({ kind: 'result', id, result: Float32Array.of(process.pid, ++responses) })
}

if (mode === 'dies') process.exit(3)
if (mode === 'broken') process.send({ kind: 'broken', error: 'no such model' })
else {
  process.on('message', handleRequest)
  process.send({ kind: 'ready' })
}
