/** A worker that keeps the pool's protocol and does what its texts say: `sleep 50`, `crash`, `refuse`; its vectors are its process id and how many answers it has given. */
const manner = process.argv[2]
let answers = 0

process.on('disconnect', () => process.exit())

/** As the model does, it can do nothing else meanwhile. */
function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function answer({ number, text }) {
  const [word, ms] = text.split(' ')
  if (word === 'crash') process.exit(7)
  if (word === 'sleep') sleep(Number(ms))
  if (word === 'refuse') process.send({ kind: 'problem', number, problem: 'this text is refused' })
  else process.send({ kind: 'vector', number, vector: Float32Array.of(process.pid, ++answers) })
}

if (manner === 'dies') process.exit(3)
if (manner === 'broken') process.send({ kind: 'broken', problem: 'no such model' })
else {
  process.on('message', answer)
  process.send({ kind: 'ready' })
}
