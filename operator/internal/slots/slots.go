// Package slots decides which Pod of a cache holds which slot, and moves a slot from a Pod that is to be replaced to
// its successor.
package slots
