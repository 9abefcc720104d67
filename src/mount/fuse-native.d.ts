// The part of fuse-native that calcfs uses, as its source has it (it ships no types).
declare module 'fuse-native' {
  type Done<Values extends unknown[] = []> = (error: number | null, ...values: Values) => void
  export interface Stat {
    mode: number
    size: number
    mtime: number
    atime: number
    ctime: number
    uid: number
    gid: number
    nlink: number
    blocks: number
    blksize: number
  }
  export interface Statfs {
    bsize: number
    frsize: number
    blocks: number
    bfree: number
    bavail: number
    files: number
    ffree: number
    favail: number
    namemax: number
  }
  export interface Operations {
    init(done: Done): void
    getattr(path: string, done: Done<[stat?: Stat]>): void
    readdir(path: string, done: Done<[names?: string[], stats?: Stat[]]>): void
    readlink(path: string, done: Done<[target?: string]>): void
    statfs(path: string, done: Done<[statfs?: Statfs]>): void
    open(path: string, flags: number, done: Done<[handle?: number]>): void
    create(path: string, mode: number, done: Done<[handle?: number]>): void
    /** Answers with the number of bytes, or a negative errno, as the first argument. */
    read(path: string, handle: number, buffer: Buffer, length: number, position: number, done: Done): void
    write(path: string, handle: number, buffer: Buffer, length: number, position: number, done: Done): void
    truncate(path: string, size: number, done: Done): void
    ftruncate(path: string, handle: number, size: number, done: Done): void
    flush(path: string, handle: number, done: Done): void
    fsync(path: string, datasync: number, handle: number, done: Done): void
    fsyncdir(path: string, datasync: number, handle: number, done: Done): void
    release(path: string, handle: number, done: Done): void
    unlink(path: string, done: Done): void
    rename(from: string, to: string, done: Done): void
    mkdir(path: string, mode: number, done: Done): void
    rmdir(path: string, done: Done): void
    symlink(target: string, path: string, done: Done): void
    link(target: string, path: string, done: Done): void
    mknod(path: string, mode: number, device: number, done: Done): void
    chmod(path: string, mode: number, done: Done): void
    chown(path: string, uid: number, gid: number, done: Done): void
    utimens(path: string, atime: number, mtime: number, done: Done): void
  }
  export default class Fuse {
    constructor(mountPoint: string, operations: Partial<Operations>, options?: { timeout?: number })
    mount(done: (error: Error | null) => void): void
    unmount(done: (error: Error | null) => void): void
    _fuseOptions(): string
  }
}
