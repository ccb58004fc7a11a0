import { describe, expect, it } from 'vitest';
import { parseOpenDefaultPorts } from './open-default-ports.ts';

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
  ])('refuses %j', (text, message) => {
    expect(() => parseOpenDefaultPorts(text, 'ns/p')).toThrow(message);
  });
});
