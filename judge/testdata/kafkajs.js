// Reads "KEY-IN-HEX COUNT…" and answers with the key's partition for each count, by the default
// partitioner, then by the legacy one: "1 0 2, 0 1 1".
const fs = require('fs')
const { Partitioners } = require('kafkajs')

const partitioners = [Partitioners.DefaultPartitioner(), Partitioners.LegacyPartitioner()]

const topics = new Map()
function topicOf(count) {
  if (!topics.has(count)) {
    topics.set(count, Array.from({ length: count }, (_, partitionId) => ({ partitionId, leader: 0 })))
  }
  return topics.get(count)
}

const answers = fs.readFileSync(0, 'utf8').trimEnd().split('\n').map(line => {
  const [hex, ...counts] = line.split(' ')
  const key = Buffer.from(hex, 'hex')
  return partitioners
    .map(partition => counts
      .map(count => partition({ topic: 'orders', partitionMetadata: topicOf(+count), message: { key } }))
      .join(' '))
    .join(', ')
})
process.stdout.write(answers.join('\n') + '\n')
