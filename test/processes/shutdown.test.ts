import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { Premises } from '../support/premises.ts'
import { SlowUpload } from '../support/slow-upload.ts'

const document = 'GET /api/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'

// Side by side, because one of them waits ten seconds.
describe('stopping the service', { concurrency: 2 }, () => {
  for (const engine of engines)
    describe(`on ${engine.name}`, { concurrency: 2 }, () => {
      for (const workers of ['1', '2'])
        it(`finishes the upload under way, refuses new connections and exits 0, with ${workers} worker(s)`, async (t) => {
          const premises = await Premises.open(t, engine, { UGS_WORKERS: workers })
          const service = await premises.start()
          const upload = await SlowUpload.begin(service.url, 'acme')
          const stopped = service.stop('SIGTERM')
          await eventually('new connections are refused', () => isRefused(service.url))
          assert.equal(service.process.exitCode, null, 'it waits for the upload')
          upload.finish()
          const { status, text } = await upload.answer
          assert.equal(status, 200)
          assert.equal(JSON.parse(text).new_user_group, true)
          assert.equal(await stopped, 0)

          const restarted = await premises.start()
          const found = await restarted.caller.getOrCreate('acme')
          assert.deepEqual(found.body, { ...JSON.parse(text), new_user_group: false })
        })

      it('cuts off clients that never finish, after ten seconds at most, and still exits 0', async (t) => {
        const service = await (await Premises.open(t, engine)).start()
        const upload = await SlowUpload.begin(service.url, 'acme')
        const unread = await silentConnection(service.url)
        t.after(() => unread.destroy())
        // Node knows nothing any more of a connection on which a tunnel was asked for.
        unread.pause().write(`${document.repeat(99)}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`)
        await pause(500)
        const began = performance.now()
        assert.equal(await service.stop('SIGTERM'), 0)
        assert.ok(performance.now() - began < 15_000, `it took ${performance.now() - began} ms`)
        await assert.rejects(upload.answer)
      })

      it('does not wait for connections on which nothing is asked', async (t) => {
        const service = await (await Premises.open(t, engine)).start()
        const silent = await silentConnection(service.url)
        t.after(() => silent.destroy())
        assert.equal((await service.caller.getOrCreate('acme')).status, 200)
        const began = performance.now()
        assert.equal(await service.stop('SIGTERM'), 0)
        assert.ok(performance.now() - began < 5_000, `it took ${performance.now() - began} ms`)
      })

      it('takes two signals of one Ctrl-C, the second passed on by npm, as one', async (t) => {
        const service = await (await Premises.open(t, engine)).start()
        const upload = await SlowUpload.begin(service.url, 'acme')
        const stopped = service.stop('SIGINT')
        service.process.kill('SIGTERM')
        await eventually('new connections are refused', () => isRefused(service.url))
        upload.finish()
        assert.equal((await upload.answer).status, 200)
        assert.equal(await stopped, 0)
      })

      // What the engine is makes no difference here.
      const workers = engine === engines[0] ? '2' : '1'
      it(`exits at once on a second signal, with ${workers} worker(s)`, async (t) => {
        const service = await (await Premises.open(t, engine, { UGS_WORKERS: workers })).start()
        const upload = await SlowUpload.begin(service.url, 'acme')
        const stopped = service.stop('SIGTERM')
        await eventually('it has begun to stop', () => isRefused(service.url))
        await pause(200)
        const again = performance.now()
        service.process.kill('SIGTERM')
        assert.equal(await stopped, 1, 'an upload was dropped: that is no clean exit')
        await assert.rejects(upload.answer)
        assert.ok(performance.now() - again < 3_000, `it took ${performance.now() - again} ms`)
      })
    })
})

/** As a load balancer opens one in advance: nothing was ever asked on it. */
async function silentConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

async function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
  } finally {
    socket.destroy()
  }
}
