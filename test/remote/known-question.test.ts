// Known questions: which question shows that an instance is there, and that it takes the token.
import t from 'tap'
import {
  firstQuestion,
  type KnownQuestions,
  knownQuestion,
  likelyQuestion,
  noteAnswered,
  noteDeleted,
  noteRefused,
} from '../../src/remote/known-question.js'

t.test('an instance is asked what it has answered: the latest record, then what cannot be deleted', t => {
  const known: KnownQuestions = {}
  t.equal(knownQuestion(known), undefined)
  t.equal(likelyQuestion(known), firstQuestion)
  noteAnswered(known, '/report-type')
  t.equal(likelyQuestion(known), '/report-type', 'an instance without /user/info is not asked for it')
  for (const path of ['/project?id=1', '/calculation?id=2', '/project/descendant?id=1', '/report?id=3'])
    noteAnswered(known, path)
  t.equal(knownQuestion(known), '/report?id=3')
  t.equal(knownQuestion(known, '/report?id=3'), '/report-type')
  t.end()
})

t.test('a refused record is asked no more, and the last known question stays in an outage', t => {
  const known: KnownQuestions = {}
  for (const path of ['/project?id=1', '/calculation?id=2']) noteAnswered(known, path)
  noteRefused(known, '/calculation?id=2')
  t.equal(knownQuestion(known), '/project?id=1')
  noteRefused(known, '/project?id=1')
  t.equal(knownQuestion(known), '/project?id=1')
  t.equal(knownQuestion(known, '/project?id=1'), undefined)
  t.end()
})

t.test('a record that was deleted here is asked no more, the last one neither', t => {
  const known: KnownQuestions = {}
  for (const path of ['/project?id=1', ...[1, 2, 3].map(id => `/calculation?id=${id}`)])
    noteAnswered(known, path)
  for (const id of [1, 2, 3]) noteDeleted(known, `/calculation?id=${id}`)
  t.equal(knownQuestion(known), '/project?id=1')
  noteDeleted(known, '/project?id=1')
  t.equal(knownQuestion(known), firstQuestion)
  t.end()
})
