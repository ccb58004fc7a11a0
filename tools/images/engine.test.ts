import { expect, it } from 'vitest';
import { buildCommands } from './engine.ts';

const IMAGE = { name: 'udnctl', tag: '1.2.3', revision: 'abc', archive: 'build/images/udnctl.tar' };

it('builds the target of the Dockerfile, and saves it as an OCI archive', () => {
  expect(buildCommands({ engine: 'podman', ...IMAGE }).map((args) => args.join(' '))).toEqual([
    'build --target udnctl --tag udnctl:1.2.3 --build-arg COMMIT=abc --label org.opencontainers.image.revision=abc .',
    'save --format oci-archive --output build/images/udnctl.tar udnctl:1.2.3',
  ]);
  expect(
    buildCommands({ engine: 'docker', ...IMAGE })
      .at(-1)
      ?.join(' '),
  ).toBe('save --output build/images/udnctl.tar udnctl:1.2.3');
});
