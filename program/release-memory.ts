/**
 * Gives back what a program has needed only to start: lists of objects, compiled code that runs once, young generations
 * that grew. V8 would do so when the heap grows to several times its size, which in a daemon that is idle is never. About
 * 20 MiB of an agent's 105.
 */
import { createRequire } from 'node:module';
import { collectGarbage } from '../base/collect-garbage.ts';

/**
 * To be called once, when the start is over. The program stands still for as long as a full collection takes: some
 * milliseconds for every 10 MiB that are in use.
 * @param addonPath what `make build` makes of `native/memory.c`
 */
export const releaseMemory = async (addonPath: string): Promise<void> => {
  const addon: unknown = createRequire(import.meta.url)(addonPath);
  if (!isAddon(addon)) throw new TypeError(`${addonPath} is not the memory addon`);
  await collectGarbage();
  addon.trim();
};

const isAddon = (value: unknown): value is { trim(): void } =>
  typeof value === 'object' && value !== null && 'trim' in value;
