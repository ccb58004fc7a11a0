import { expect, it } from 'vitest';
import { connectivityCommand } from './connectivity-command.ts';

it('has defaults that its options accept', () => {
  const help = connectivityCommand().helpInformation().replace(/\s+/g, ' ');
  expect(help).toContain('how long to wait for the pods (default: 2m');
  expect(help).toContain('after how long a probe gives up (default: 3s');
});
