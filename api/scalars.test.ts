import { expect, it } from 'vitest';
import { domainNameSchema } from './scalars.ts';

it('reads a domain name, and says what is wrong with one', () => {
  expect(domainNameSchema.parse('WWW.example.com')).toBe('www.example.com.');
  expect(domainNameSchema.safeParse('*.example.com').error?.issues[0]?.message).toBe(
    '"*.example.com" is a wildcard, and no server can be asked which names it stands for: name each of them',
  );
});
