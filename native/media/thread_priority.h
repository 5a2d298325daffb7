// Scheduling of the calling thread.
#ifndef PARLEY_MEDIA_THREAD_PRIORITY_H_
#define PARLEY_MEDIA_THREAD_PRIORITY_H_

namespace parley {

enum class Priority { kNormal, kNice, kFifo };

const char* NameOf(Priority priority);

// Real time if the system allows it, else a negative nice value, else as it is.
// Also asks for timers without slack.
Priority RaiseThreadPriority();

// Sets the nice value, of this thread only. False when the system refuses.
bool SetThreadNice(int nice);

}  // namespace parley

#endif  // PARLEY_MEDIA_THREAD_PRIORITY_H_
