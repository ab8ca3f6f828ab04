export { createRateLimiter, type RateLimiter, type RateState, type Reservation } from './rate-limiter.js';
