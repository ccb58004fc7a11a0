import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DAEMON_OPTIONS } from './daemon-options.ts';

it.each(['udn-agent', 'udn-cluster-manager'])('bin/%s starts Node with them', (name) => {
  const script = readFileSync(new URL(`../bin/${name}`, import.meta.url), 'utf8');
  expect(script).toContain(`/bin/node" ${DAEMON_OPTIONS.join(' ')} "$root/dist/${name}.mjs" "$@"`);
});

it('are options that this Node has, and that limit the young generation', () => {
  const script = `
    const kept = [];
    for (let round = 0; round < 2000; round++) kept[round % 200] = Array.from({ length: 5000 }, (_, index) => ({ index }));
    const { space_size } = require('node:v8').getHeapSpaceStatistics().find((one) => one.space_name === 'new_space');
    process.stdout.write(String(space_size));`;
  const size = Number(execFileSync(process.execPath, [...DAEMON_OPTIONS, '--eval', script], { encoding: 'utf8' }));
  expect(size).toBeGreaterThan(0);
  expect(size).toBeLessThanOrEqual(2 * 8 * 1024 * 1024);
});
