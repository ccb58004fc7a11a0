import { existsSync, readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { inBrowser, type StartProgram } from './in-browser.ts';

const opened = async (address: string) => {
  const ending = new AbortController();
  const printed: string[] = [];
  const started = Promise.withResolvers<Parameters<StartProgram>>();
  let fail = (): void => {};
  let isLetGo = false;
  const start: StartProgram = (...words) => {
    started.resolve(words);
    return {
      once: (_, listener) => {
        fail = listener;
      },
      unref: () => {
        isLetGo = true;
      },
    };
  };
  const result = inBrowser(address, (line) => void printed.push(line), ending.signal, start);
  const [, [file = ''], options] = await started.promise;
  return { result, ending, printed, file, options, fail: () => fail(), isLetGo: () => isLetGo };
};

it('gives the browser a file that only its user reads, and deletes it in the end', async () => {
  const { result, ending, file } = await opened('http://127.0.0.1:1/#secret');
  expect(readFileSync(file, 'utf8')).toContain('url=http://127.0.0.1:1/#secret');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  ending.abort();
  await result;
  expect(existsSync(file)).toBe(false);
});

it('the browser has a process group and streams of its own, and is not waited for', async () => {
  const { result, ending, options, isLetGo } = await opened('http://127.0.0.1:1/');
  expect(options).toEqual({ detached: true, stdio: 'ignore' });
  expect(isLetGo()).toBe(true);
  ending.abort();
  await result;
});

it('without a browser says so, and goes on', async () => {
  const { result, ending, fail, printed } = await opened('http://127.0.0.1:1/');
  fail();
  expect(printed).toEqual(['No browser could be opened: open the address above.']);
  ending.abort();
  await result;
});
