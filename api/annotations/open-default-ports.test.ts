import { describe, expect, it } from 'vitest';
import { MOST_OPEN_PORTS, parseOpenDefaultPorts } from './open-default-ports.ts';

describe('open-default-ports', () => {
  it('reads a YAML list', () => {
    expect(parseOpenDefaultPorts('- protocol: tcp\n  port: 80\n- protocol: icmp\n', 'ns/p')).toEqual([
      { protocol: 'tcp', port: 80 },
      { protocol: 'icmp' },
    ]);
  });

  it.each([
    ['- protocol: ppp\n  port: 1', '[0].protocol: invalid protocol ppp'],
    ['- protocol: tcp', '[0].port: is required'],
    ['- protocol: icmp\n  port: 3', '[0].port: icmp has no ports'],
    ['- protocol: udp\n  port: 70000', 'is not a port'],
    ['a: [', 'not YAML'],
    ['x', 'must be an array'],
    ['- protocol: tcp\n  port: 80\n  port: 22', 'not YAML: [0] has the key port twice'],
    ['- &a { protocol: tcp, port: 80 }\n- *a', 'not YAML: Alias resolution is disabled'],
  ])('refuses %j', (text, message) => {
    expect(() => parseOpenDefaultPorts(text, 'ns/p')).toThrow(message);
  });

  it('refuses more than a pod may have', () => {
    expect(() => parseOpenDefaultPorts('- protocol: icmp\n'.repeat(257), 'ns/p')).toThrow(
      'must have at most 256 items',
    );
    expect(() => parseOpenDefaultPorts('#'.repeat(16_385), 'ns/p')).toThrow('has 16385 characters, more than 16384');
  });

  it('has room for as many as a pod may have, with a comment each', () => {
    const text = Array.from(
      { length: MOST_OPEN_PORTS },
      (_, i) => `- protocol: sctp\n  port: ${65_000 + i} # why it is open\n`,
    );
    expect(parseOpenDefaultPorts(text.join(''), 'ns/p')).toHaveLength(MOST_OPEN_PORTS);
  });

  it('reads no text for seconds', () => {
    const keys = Array.from({ length: 4_000 }, (_, i) => i.toString(36)).join();
    const started = process.cpuUsage();
    expect(() => parseOpenDefaultPorts(`[{${keys}}]`.slice(0, 16_384), 'ns/p')).toThrow();
    expect(() => parseOpenDefaultPorts(`{${'k: 1, '.repeat(40_000)}}`, 'ns/p')).toThrow();
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
  });
});
