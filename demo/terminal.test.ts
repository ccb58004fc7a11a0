import { WriteStream } from 'node:tty';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTerminal } from './terminal.ts';

/** A terminal, or a file. */
const streamOf = (isTTY: boolean): { readonly stream: NodeJS.WriteStream; readonly text: () => string } => {
  let written = '';
  const stream = Object.assign(Object.create(WriteStream.prototype) as NodeJS.WriteStream, {
    isTTY,
    write: (chunk: string): boolean => {
      written += chunk;
      return true;
    },
  });
  return { stream, text: () => written };
};

beforeEach(() => {
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI']) vi.stubEnv(name, undefined);
  vi.stubEnv('TERM', 'xterm-256color');
});
afterEach(() => vi.unstubAllEnvs());

describe('createTerminal', () => {
  it('says how long it has been', () => {
    const { stream, text } = streamOf(false);
    const times = [1_000, 13_345];
    const terminal = createTerminal(stream, () => times.shift() ?? 0);
    terminal.note('ready');
    expect(text()).toBe(' 12.3 s  ready\n');
  });

  it('colours for a terminal', () => {
    const { stream, text } = streamOf(true);
    const terminal = createTerminal(stream);
    terminal.block(terminal.paint('good', 'x'));
    expect(text()).toBe('\u001b[32mx\u001b[39m\n');
  });

  it('does not colour what is no terminal', () => {
    const { stream, text } = streamOf(false);
    const terminal = createTerminal(stream);
    terminal.step(terminal.paint('bad', 'x'));
    expect(text()).toBe('\nx\n');
  });

  it('does not colour with NO_COLOR', () => {
    vi.stubEnv('NO_COLOR', '1');
    const { stream, text } = streamOf(true);
    const terminal = createTerminal(stream);
    terminal.step(terminal.paint('bad', 'x'));
    expect(text()).toBe('\nx\n');
  });
});
