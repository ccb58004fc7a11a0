/** What the demo says, and how it looks. */
import { styleText } from 'node:util';
import type { Paint, Style } from '../test/oracles/reachability/matrix.ts';

export interface Terminal {
  /** A headline. */
  step(title: string): void;
  /** A line with the time since the start. */
  note(text: string): void;
  /** Lines as they are. */
  block(text: string): void;
  readonly paint: Paint;
}

/** Where it is written to: colours only for a terminal, and never with NO_COLOR (https://no-color.org). */
export const createTerminal = (
  stream: NodeJS.WriteStream,
  now: () => number = () => performance.now(),
  start: number = now(),
): Terminal => {
  const paint: Paint = (style, text) => styleText(STYLES[style], text, { stream });
  const say = (text: string): void => void stream.write(`${text}\n`);
  return {
    paint,
    step: (title) => say(`\n${paint('strong', title)}`),
    note: (text) => {
      const seconds = ((now() - start) / 1000).toFixed(1).padStart(5);
      say(`${paint('dim', `${seconds} s`)}  ${text}`);
    },
    block: say,
  };
};

const STYLES: Readonly<Record<Style, Parameters<typeof styleText>[0]>> = {
  good: 'green',
  bad: ['bold', 'red'],
  dim: 'dim',
  strong: 'bold',
};
