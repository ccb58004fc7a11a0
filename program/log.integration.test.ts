/** The log of a program, as another process reads it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('has its time as people read it, in UTC', async () => {
  const module = JSON.stringify(new URL('./log.ts', import.meta.url).href);
  const script = `import { openLog } from ${module}; openLog('udn-x', 'info').log.info('started');`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  const line: unknown = JSON.parse(stdout);
  expect(line).toMatchObject({ name: 'udn-x', msg: 'started' });
  expect(line).toHaveProperty('time', expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/));
});
