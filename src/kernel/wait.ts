// Waiting for the kernel's requests: libuv's own poll on the device, called through its public C interface.
import koffi from 'koffi'
import { endWithoutSync } from '../system/line-writer.js'

const pollHandle = 8 // UV_POLL, uv.h
const readable = 1 // UV_READABLE, uv.h

/** The functions of libuv, which the node program exports (uv_poll_t, libuv 1.x). @throws where this one does not */
function openLibuv() {
  endWithoutSync()
  const library = koffi.load(null)
  const onPoll = koffi.pointer(koffi.proto('void CalcfsPoll(void *handle, int status, int events)'))
  return {
    loop: library.func('void *uv_default_loop()'),
    handleSize: library.func('size_t uv_handle_size(int type)'),
    init: library.func('int uv_poll_init(void *loop, void *handle, int fd)'),
    start: library.func('uv_poll_start', 'int', ['void *', 'int', onPoll]),
    stop: library.func('int uv_poll_stop(void *handle)'),
    register: (ready: () => void) => koffi.register(ready, onPoll),
  }
}

let libuv: ReturnType<typeof openLibuv> | undefined

/** @throws where koffi does not load it from this node */
export function loadLibuv(): ReturnType<typeof openLibuv> {
  libuv ??= openLibuv()
  return libuv
}

/**
 * Calls `ready` on the main thread whenever the descriptor can be read, or has come to its end; keeps the process alive. The
 * returned function ends that.
 * The handle's memory and the callback stay for the life of the process: libuv keeps pointers to both.
 * @throws where this node does not export libuv
 */
export function whenReadable(descriptor: number, ready: () => void): () => void {
  const { loop, handleSize, init, start, stop, register } = loadLibuv()
  const handle = koffi.alloc('uint8_t', Number(handleSize(pollHandle)))
  check(init(loop(), handle, descriptor), 'uv_poll_init')
  check(start(handle, readable, register(ready)), 'uv_poll_start')
  return () => void stop(handle)
}

function check(result: number, name: string): void {
  if (result !== 0) throw new Error(`${name}: error ${result}`)
}
