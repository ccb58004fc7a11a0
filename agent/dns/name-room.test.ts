import { describe, expect, it } from 'vitest';
import { parseDomainName } from '../../net/domain-name.ts';
import { NameRoom } from './name-room.ts';

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((label) => parseDomainName(`${label}.example`)) as [
  never,
  never,
  never,
  never,
];

describe('room for names', () => {
  it('is for so many of each owner, and who waits comes in order', () => {
    const room = new NameRoom(1);
    expect(room.want(a, 'firewall')).toEqual([a]);
    expect(room.want(b, 'firewall')).toEqual([]);
    expect(room.want(c, 'firewall')).toEqual([]);
    expect(room.want(d, 'administrator')).toEqual([d]);
    expect([...room.waiting()]).toEqual([b, c]);
    expect(room.release(a, 'firewall')).toEqual([b]);
    expect([room.has(a), room.has(b), room.isWaiting(c)]).toEqual([false, true, true]);
    expect(room.release(c, 'firewall')).toEqual([]);
    expect([...room.waiting()]).toEqual([]);
  });

  it('lasts until the last has released a name', () => {
    const room = new NameRoom(1);
    room.want(a, 'firewall');
    room.want(a, 'firewall');
    room.want(a, 'administrator');
    room.release(a, 'firewall');
    room.release(a, 'administrator');
    expect(room.has(a)).toBe(true);
    room.release(a, 'firewall');
    expect(room.has(a)).toBe(false);
  });

  it('is never more than both rooms, whoever names what others have', () => {
    const room = new NameRoom(1);
    room.want(a, 'firewall');
    room.want(b, 'administrator');
    // It stays where it is, as the other room is full.
    room.want(a, 'administrator');
    expect(room.want(c, 'firewall')).toEqual([]);
    expect(room.release(b, 'administrator')).toEqual([]);
    expect(room.want(d, 'administrator')).toEqual([d]);
    expect(room.release(a, 'administrator')).toEqual([]);
    expect(room.release(a, 'firewall')).toEqual([c]);
  });
});
