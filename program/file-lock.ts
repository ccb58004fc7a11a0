/** A file that one process at a time holds. Its end releases it, also a crash: nothing has to be cleaned up. */
import { closeSync, constants, fstatSync, openSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';

export interface FileLock extends Disposable {
  /** Releases it and removes the file: for who leaves nothing behind. */
  remove(): void;
}

/**
 * @param path in a folder that only root may write; the file is readable by its owner only, as a reader could hold it
 * @param addonPath what `make build` makes of `native/lock.c`
 * @returns undefined: another process holds it @throws Error when the file cannot be opened
 */
export const tryFileLock = (path: string, addonPath: string): FileLock | undefined => {
  const addon: unknown = createRequire(import.meta.url)(addonPath);
  if (!isAddon(addon)) throw new TypeError(`${addonPath} is not the lock addon`);
  for (;;) {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    if (!addon.tryLock(fd)) {
      closeSync(fd);
      return undefined;
    }
    if (isAt(path, fd)) return heldLock(path, fd);
    // Whoever held it has removed the file between both calls.
    closeSync(fd);
  }
};

const isAt = (path: string, fd: number): boolean =>
  statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino;

const heldLock = (path: string, fd: number): FileLock => {
  let isHeld = true;
  const release = (): void => {
    if (isHeld) closeSync(fd);
    isHeld = false;
  };
  return {
    remove: () => {
      // While it is held: nobody else can have locked this file then.
      if (isHeld) rmSync(path, { force: true });
      release();
    },
    [Symbol.dispose]: release,
  };
};

const isAddon = (value: unknown): value is { tryLock(fd: number): boolean } =>
  typeof value === 'object' && value !== null && 'tryLock' in value;
